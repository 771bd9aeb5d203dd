import type { APIChannel } from "discord-api-types/v10";

import { MessageType, Permission } from "../../api/enums";
import { channelPermissions } from "../../store/permissions";
import type { State } from "../../store/state";

const EXEMPT = Permission.ManageMessages | Permission.ManageChannels | Permission.BypassSlowmode;
/** As a time: the user has not written. */
export const NEVER = 0;

/** The slow mode of a channel for the user, in seconds; 0 for none. */
export function slowModeOf(state: State, channel: APIChannel): number {
  const seconds = "rate_limit_per_user" in channel ? (channel.rate_limit_per_user ?? 0) : 0;
  return seconds > 0 && (channelPermissions(state, channel, state.user?.id ?? "") & EXEMPT) === 0n
    ? seconds
    : 0;
}

/** When the user has last written in a channel, as far as its messages are loaded, in milliseconds since the epoch. */
export function lastWrittenAt(state: State, channelId: string): number {
  const last = state.messages[channelId]?.messages.findLast(
    ({ author, type }) =>
      author.id === state.user?.id && (type === MessageType.Default || type === MessageType.Reply),
  );
  return last === undefined ? NEVER : Date.parse(last.timestamp);
}
