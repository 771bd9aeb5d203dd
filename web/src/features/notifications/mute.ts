import { modifyGuildSettings } from "../../api/settings";
import type { MuteConfig } from "../../store/userSettings";
import type { Session } from "../session/session";

/** How long something is muted, in seconds; null for until it is unmuted. */
export const MUTE_SECONDS: readonly (number | null)[] = [900, 3600, 10_800, 28_800, 86_400, null];

export interface Mute {
  muted: boolean;
  mute_config: MuteConfig | null;
}

/** The fields that mute for a time from `now`, in milliseconds since the epoch. */
export function muteFor(seconds: number | null, now: number): Mute {
  return {
    muted: true,
    mute_config:
      seconds === null
        ? { end_time: null, selected_time_window: -1 }
        : { end_time: new Date(now + seconds * 1000).toISOString(), selected_time_window: seconds },
  };
}

export const UNMUTED: Mute = { muted: false, mute_config: null };

/** Change the notification settings of a guild, or with "@me" of direct messages. */
export async function changeGuildSettings(session: Session, guildId: string, changes: object): Promise<void> {
  const changed = await modifyGuildSettings(session.api, guildId, changes);
  session.store.dispatch("USER_GUILD_SETTINGS_UPDATE", changed);
}

/** Change the notification settings of a channel; `guildId` is "@me" for direct messages. */
export function changeChannelSettings(
  session: Session,
  guildId: string,
  channelId: string,
  changes: object,
): Promise<void> {
  return changeGuildSettings(session, guildId, { channel_overrides: { [channelId]: changes } });
}
