import type { GatewayActivity } from "discord-api-types/v10";

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

/** The custom status of activities, else the name of the first one; null for none. */
export function activityText(activities: readonly GatewayActivity[]): string | null {
  const custom = activities.find((activity) => (activity.type as number) === CUSTOM);
  if (custom === undefined) {
    return activities[0]?.name ?? null;
  }
  const emoji = custom.emoji?.id === undefined ? (custom.emoji?.name ?? "") : "";
  const text = [emoji, custom.state ?? ""].filter((part) => part !== "").join(" ");
  return text === "" ? null : text;
}

export function usePresence(userId: string): string | null {
  return useAppState((state) => activityText(state.presences[userId]?.activities ?? []));
}
