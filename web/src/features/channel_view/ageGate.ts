import type { APIChannel } from "discord-api-types/v10";

import { isThread } from "../../store/channels";
import type { State } from "../../store/state";

const PASSED = "moothall.adult.";

/** Whether a channel, or that of a thread, is for adults alone. */
export function isAgeRestricted(state: State, channel: APIChannel): boolean {
  const source = isThread(channel) ? state.channels[channel.parent_id ?? ""] : channel;
  return source !== undefined && "nsfw" in source && source.nsfw === true;
}

/** Whether the user has said on this device that they may see such channels of a guild. */
export function hasPassedAgeGate(guildId: string | null): boolean {
  return localStorage.getItem(PASSED + (guildId ?? "")) !== null;
}

export function passAgeGate(guildId: string | null): void {
  localStorage.setItem(PASSED + (guildId ?? ""), "yes");
}
