import type { APIChannel, APIMessage, APIThreadChannel, APIThreadMember } from "discord-api-types/v10";

import { isThread } from "./channels";
import { isMessageRequest } from "./messageRequests";
import { keyBy, withEntry } from "./records";
import { isSilenced } from "./relationships";
import type { State } from "./state";
import {
  DEFAULT_SETTINGS,
  type ChannelOverride,
  type GuildSettings,
  type MuteConfig,
  type UserSettings,
} from "./userSettings";

/** What the user's own membership of a thread has besides the public fields. */
interface ThreadMute {
  muted: boolean;
  mute_config: MuteConfig | null;
}

/** Bits of `flags` of the user's own membership of a thread. */
const NO_MESSAGES = 8;

export const NotificationLevel = { All: 0, Mentions: 1, None: 2, Inherit: 3 } as const;

/** Bits of `flags` of a guild's settings and of a channel override. */
export const GuildSettingsFlags = { OptInChannelsOff: 1 << 13, OptInChannelsOn: 1 << 14 } as const;
export const ChannelOverrideFlags = { Favorited: 1 << 11, OptInEnabled: 1 << 12 } as const;

/** The key of the settings of direct messages in the state. */
const DIRECT_MESSAGES = "@me";
const SUPPRESS_NOTIFICATIONS = 1 << 12;

export interface ReadySettings {
  user_settings?: Partial<UserSettings>;
  /** A list, or an object with a list and its version. */
  user_guild_settings?: GuildSettings[] | { entries: GuildSettings[] };
}

/** What READY changes. */
export function readySettings(data: ReadySettings): Pick<State, "settings" | "guildSettings"> {
  const { user_guild_settings: value } = data;
  const entries = Array.isArray(value) ? value : (value?.entries ?? []);
  return {
    settings: { ...DEFAULT_SETTINGS, ...data.user_settings },
    guildSettings: keyBy(entries, keyOf),
  };
}

export function settingsUpdate(state: State, changed: Partial<UserSettings>): State {
  return { ...state, settings: { ...state.settings, ...changed } };
}

export function guildSettingsUpdate(state: State, settings: GuildSettings): State {
  return { ...state, guildSettings: withEntry(state.guildSettings, keyOf(settings), settings) };
}

function keyOf(settings: GuildSettings): string {
  return settings.guild_id ?? DIRECT_MESSAGES;
}

/** Whether a mute is in force at a time, in milliseconds since the epoch. */
export function isInForce(mute: { muted: boolean; mute_config: MuteConfig | null }, now: number): boolean {
  const end = mute.mute_config?.end_time;
  return mute.muted && (!end || Date.parse(end) > now);
}

/** When the next mute of the user ends, in milliseconds since the epoch; null if none ends by itself. */
export function nextMuteEnd(state: State): number | null {
  const settings = Object.values(state.guildSettings);
  const threads = Object.values(state.channels).filter(isThread);
  const ends = [
    ...settings,
    ...settings.flatMap((each) => each.channel_overrides),
    ...threads.map((thread) => threadMute(thread)),
  ]
    .filter(({ muted, mute_config }) => muted && mute_config?.end_time)
    .map(({ mute_config }) => Date.parse(mute_config?.end_time ?? ""));
  return ends.length === 0 ? null : Math.min(...ends);
}

/** The state without the mutes whose time is over; `now` is in milliseconds since the epoch. */
export function endMutes(state: State, now: number): State {
  const isOver = (mute: { muted: boolean; mute_config: MuteConfig | null }) =>
    mute.muted && !isInForce(mute, now);
  const ended = <Muted extends { muted: boolean; mute_config: MuteConfig | null }>(mute: Muted): Muted =>
    isOver(mute) ? { ...mute, muted: false, mute_config: null } : mute;
  const settings = Object.values(state.guildSettings).filter(
    (each) => isOver(each) || each.channel_overrides.some(isOver),
  );
  const threads = Object.values(state.channels).filter(
    (channel): channel is APIThreadChannel => isThread(channel) && isOver(threadMute(channel)),
  );
  const changed = settings.reduce(
    (before, each) =>
      guildSettingsUpdate(before, {
        ...ended(each),
        channel_overrides: each.channel_overrides.map((override) => ended(override)),
      }),
    state,
  );
  return threads.reduce((before, thread) => {
    const member = { ...thread.member, muted: false, mute_config: null } as unknown as APIThreadMember;
    return { ...before, channels: withEntry(before.channels, thread.id, { ...thread, member }) };
  }, changed);
}

export function isGuildMuted(state: State, guildId: string, now: number): boolean {
  const settings = state.guildSettings[guildId];
  return settings !== undefined && isInForce(settings, now);
}

export function overrideOf(state: State, channel: APIChannel): ChannelOverride | undefined {
  return state.guildSettings[guildOf(channel) ?? DIRECT_MESSAGES]?.channel_overrides.find(
    (override) => override.channel_id === channel.id,
  );
}

/** Whether a channel or thread, or the channel or category above it, is muted; the guild's mute does not count. */
export function isChannelMuted(state: State, channel: APIChannel, now: number): boolean {
  for (const each of [channel, ...ancestors(state, channel)]) {
    const override = overrideOf(state, each);
    if (override !== undefined && isInForce(override, now)) {
      return true;
    }
  }
  return isThread(channel) && isThreadMuted(channel, now);
}

/** Whether the user has muted a thread itself. */
export function isThreadMuted(thread: APIThreadChannel, now: number): boolean {
  return isInForce(threadMute(thread), now);
}

/** Whether and how long the user has muted a thread itself. */
export function threadMute(thread: APIThreadChannel): ThreadMute {
  const member: (APIThreadMember & Partial<ThreadMute>) | undefined = thread.member;
  return { muted: member?.muted === true, mute_config: member?.mute_config ?? null };
}

/** Which messages of a channel notify the user: the nearest level that is set, from the channel up to the guild. */
export function notificationLevel(state: State, channel: APIChannel): number {
  const guildId = guildOf(channel);
  const levels = [
    ...[channel, ...ancestors(state, channel)].map((each) => overrideOf(state, each)?.message_notifications),
    guildId === null ? NotificationLevel.All : state.guildSettings[guildId]?.message_notifications,
    guildId === null ? NotificationLevel.All : state.guilds[guildId]?.defaultNotifications,
  ];
  return levels.find((level) => level !== undefined && level !== NotificationLevel.Inherit) ?? 0;
}

/** Whether a message mentions the user, by their name, a role or everyone, as far as their settings let it. */
export function mentionsUser(state: State, message: APIMessage, guildId: string | null): boolean {
  const userId = state.user?.id ?? "";
  const settings = guildId === null ? undefined : state.guildSettings[guildId];
  if (message.mentions.some((user) => user.id === userId)) {
    return true;
  }
  if (message.mention_everyone && settings?.suppress_everyone !== true) {
    return true;
  }
  const roles = guildId === null ? [] : (state.members[guildId]?.[userId]?.roles ?? []);
  return settings?.suppress_roles !== true && message.mention_roles.some((roleId) => roles.includes(roleId));
}

/** Whether a new message is announced to the user outside of the page. `now` is in milliseconds since the epoch. */
export function notifies(state: State, message: APIMessage, now: number): boolean {
  const channel = state.channels[message.channel_id];
  if (
    channel === undefined ||
    isMessageRequest(channel) ||
    message.author.id === state.user?.id ||
    isSilenced(state, message.author.id) ||
    ((message.flags ?? 0) & SUPPRESS_NOTIFICATIONS) !== 0 ||
    state.settings.status === "dnd"
  ) {
    return false;
  }
  const guildId = guildOf(channel);
  if ((guildId !== null && isGuildMuted(state, guildId, now)) || isChannelMuted(state, channel, now)) {
    return false;
  }
  if (isThread(channel) && ((channel.member?.flags ?? 0) & NO_MESSAGES) !== 0) {
    return false;
  }
  const level = notificationLevel(state, channel);
  return (
    level === NotificationLevel.All ||
    (level === NotificationLevel.Mentions && mentionsUser(state, message, guildId))
  );
}

function guildOf(channel: APIChannel): string | null {
  return "guild_id" in channel ? (channel.guild_id ?? null) : null;
}

/** The channel of a thread, and the category above. */
function ancestors(state: State, channel: APIChannel): APIChannel[] {
  const parentId = "parent_id" in channel ? channel.parent_id : null;
  const parent = parentId ? state.channels[parentId] : undefined;
  return parent === undefined ? [] : [parent, ...ancestors(state, parent)];
}
