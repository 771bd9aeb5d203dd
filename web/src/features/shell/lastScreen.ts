import { guildIdOf } from "../../store/channels";
import { channelPermissions, has } from "../../store/permissions";
import { Permission } from "../../api/enums";
import type { State } from "../../store/state";

const SCREEN = "moothall.screen.";
const CHANNEL = "moothall.channel.";
const HOME = "/channels/@me";
const PATH = /^\/channels\/(?<guildId>@me|\d+)(?:\/(?<channelId>\d+))?$/;

/** Remember on this device which channel an account has open; null for the direct messages, or for no channel. */
export function keepLastScreen(
  userId: string,
  guildId: string | null,
  channelId: string | null,
  storage: Storage = localStorage,
): void {
  const path = guildId === null ? HOME : `/channels/${guildId}`;
  storage.setItem(SCREEN + userId, channelId === null ? path : `${path}/${channelId}`);
  if (guildId !== null && channelId !== null) {
    storage.setItem(`${CHANNEL}${userId}.${guildId}`, channelId);
  }
}

/** The path of the screen that an account had open last. */
export function lastScreen(userId: string, storage: Storage = localStorage): string {
  return storage.getItem(SCREEN + userId) ?? HOME;
}

/** The channel that an account had open last in a guild. */
export function lastChannel(userId: string, guildId: string, storage: Storage = localStorage): string | null {
  return storage.getItem(`${CHANNEL}${userId}.${guildId}`);
}

/** The path, or the nearest one above it that the user can still open. A guild may not have arrived yet. */
export function reachablePath(state: State, path: string): string {
  const { guildId, channelId } = PATH.exec(path)?.groups ?? {};
  if (guildId !== "@me" && guildId !== undefined && state.loadingGuilds.includes(guildId)) {
    return path;
  }
  if (guildId === undefined || (guildId !== "@me" && state.guilds[guildId] === undefined)) {
    return HOME;
  }
  const channel = channelId === undefined ? undefined : state.channels[channelId];
  const isReachable =
    channel !== undefined &&
    (guildIdOf(channel) ?? "@me") === guildId &&
    has(channelPermissions(state, channel, state.user?.id ?? ""), Permission.ViewChannel);
  return isReachable ? path : `/channels/${guildId}`;
}
