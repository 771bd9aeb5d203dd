import type { MessageId } from "../../i18n/messages";
import { useAppState } from "../session/session";

const CUSTOM = 4;

/** The text of a status, for screen readers. */
export function presenceText(status: string): MessageId {
  switch (status) {
    case "online":
      return "member.online";
    case "idle":
      return "settings.status.idle";
    case "dnd":
      return "settings.status.dnd";
    default:
      return "member.offline";
  }
}

/** What is shown of an activity, which a presence or the user's own settings have. */
interface ShownActivity {
  name: string;
  type: number;
  state?: string | null;
  emoji?: { id?: string | null; name: string | null } | null;
}

/** The custom status of activities, else the name of the first one; null for none. */
export function activityText(activities: readonly ShownActivity[]): string | null {
  const custom = activities.find((activity) => activity.type === CUSTOM);
  if (custom === undefined) {
    return activities[0]?.name ?? null;
  }
  const emoji = (custom.emoji?.id ?? null) === null ? (custom.emoji?.name ?? "") : "";
  const text = [emoji, custom.state ?? ""].filter((part) => part !== "").join(" ");
  return text === "" ? null : text;
}

export function usePresence(userId: string): string | null {
  return useAppState((state) => activityText(state.presences[userId]?.activities ?? []));
}
