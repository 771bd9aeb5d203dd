import { ChannelType, Permission } from "../api/enums";
import { avatarUrl, memberAvatarUrl } from "../api/images";
import type { APIChannel, APIUser } from "discord-api-types/v10";

import { channelPermissions, has } from "./permissions";
import { isMessageRequest } from "./messageRequests";
import { compareIds } from "./records";
import { guildIdOf, isPrivate, isThread, isVoice, parentIdOf } from "./channels";
import type { GuildState, State } from "./state";

/** A memoized selector: computes again only when its input is another object. */
export function createSelector<Input, Result>(
  input: (state: State) => Input,
  compute: (value: Input) => Result,
): (state: State) => Result {
  let last: { value: Input; result: Result } | null = null;
  return (state) => {
    const value = input(state);
    if (last?.value !== value) {
      last = { value, result: compute(value) };
    }
    return last.result;
  };
}

export interface ChannelGroup {
  /** Null for channels without a category. */
  category: APIChannel | null;
  channels: readonly APIChannel[];
}

/** The channels of a guild that the user may view, by category, in the order of the channel list. */
export function visibleChannelGroups(state: State, guildId: string): ChannelGroup[] {
  const userId = state.user?.id ?? "";
  const channels = Object.values(state.channels)
    .filter((channel) => guildIdOf(channel) === guildId && !isThread(channel))
    .sort(compareChannels);
  const visible = (channel: APIChannel) =>
    has(channelPermissions(state, channel, userId), Permission.ViewChannel);
  const inCategory = (categoryId: string | null) =>
    channels.filter(
      (channel) =>
        channel.type !== ChannelType.GuildCategory && parentIdOf(channel) === categoryId && visible(channel),
    );
  const groups: ChannelGroup[] = [{ category: null, channels: inCategory(null) }];
  for (const category of channels) {
    if (category.type === ChannelType.GuildCategory) {
      groups.push({ category, channels: inCategory(category.id) });
    }
  }
  return groups.filter(
    (group) => group.channels.length > 0 || (group.category !== null && visible(group.category)),
  );
}

/** Channels for text stand above those for voice; within them by position, then by age. */
function compareChannels(a: APIChannel, b: APIChannel): number {
  const voice = Number(isVoice(a)) - Number(isVoice(b));
  const position = ("position" in a ? a.position : 0) - ("position" in b ? b.position : 0);
  return voice || position || compareIds(a.id, b.id);
}

/** Guilds in the order in which the user has joined them. */
export const orderedGuilds = createSelector(
  (state) => state.guilds,
  (guilds): GuildState[] =>
    Object.values(guilds).sort((a, b) => (a.joinedAt ?? "").localeCompare(b.joinedAt ?? "")),
);

/** Direct messages, the one with the newest message first; without the requests of strangers. */
export const directMessages = createSelector(
  (state) => state.channels,
  (channels): APIChannel[] =>
    Object.values(channels)
      .filter((channel) => isPrivate(channel) && !isMessageRequest(channel))
      .sort((a, b) => compareIds(lastActivity(b), lastActivity(a))),
);

/** The message requests of strangers, the newest first. */
export const messageRequests = createSelector(
  (state) => state.channels,
  (channels): APIChannel[] =>
    Object.values(channels)
      .filter(isMessageRequest)
      .sort((a, b) => compareIds(lastActivity(b), lastActivity(a))),
);

function lastActivity(channel: APIChannel): string {
  return "last_message_id" in channel && channel.last_message_id ? channel.last_message_id : channel.id;
}

/** The name that a user is shown by in a guild, or outside of any. */
export function displayName(state: State, user: APIUser, guildId: string | null): string {
  const nick =
    guildId === null ? state.relationships[user.id]?.nickname : state.members[guildId]?.[user.id]?.nick;
  return nick ?? user.global_name ?? user.username;
}

/** The URL of the avatar that a user is shown by in a guild, or outside of any; null if they have none. */
export function shownAvatar(
  state: State,
  user: Pick<APIUser, "id" | "avatar">,
  guildId: string | null,
  size: number,
): string | null {
  const own = guildId === null ? null : (state.members[guildId]?.[user.id]?.avatar ?? null);
  return own === null || guildId === null
    ? avatarUrl(user, size)
    : memberAvatarUrl(guildId, user.id, own, size);
}

/** The colour of a member's name: that of the highest role with one, or null. */
export function nameColor(state: State, userId: string, guildId: string | null): string | null {
  if (guildId === null) {
    return null;
  }
  const roles = state.guilds[guildId]?.roles ?? {};
  const colored = (state.members[guildId]?.[userId]?.roles ?? [])
    .map((id) => roles[id])
    .filter((role) => role !== undefined && role.color !== 0)
    .sort((a, b) => (b?.position ?? 0) - (a?.position ?? 0))[0];
  return colored ? `#${colored.color.toString(16).padStart(6, "0")}` : null;
}

/** The name of a channel; of a direct message the names of its recipients. */
export function channelName(state: State, channel: APIChannel): string {
  if ("name" in channel && channel.name) {
    return channel.name;
  }
  if ("recipients" in channel && channel.recipients) {
    return channel.recipients.map((user) => displayName(state, user, null)).join(", ");
  }
  return "";
}
