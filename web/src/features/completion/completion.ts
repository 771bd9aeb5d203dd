import type { APIChannel, APIEmoji, APIUser } from "discord-api-types/v10";

import { ChannelType, Permission } from "../../api/enums";
import { channelPermissions, has } from "../../store/permissions";
import { guildIdOf } from "../../store/channels";
import { channelName, displayName, orderedGuilds } from "../../store/selectors";
import type { State } from "../../store/state";
import type { Reference } from "./references";

/** What is being typed before the caret, and where it begins. */
export interface Trigger {
  kind: "mention" | "channel" | "emoji" | "command";
  query: string;
  start: number;
}

/** A text that can stand in place of what was typed. */
export interface Completion {
  key: string;
  label: string;
  detail?: string;
  icon:
    | { kind: "user"; user: Pick<APIUser, "id" | "avatar"> }
    | { kind: "role"; color: string | null }
    | { kind: "everyone" }
    | { kind: "channel"; type: ChannelType }
    | { kind: "emoji"; id: string | null; name: string };
  /** What is inserted: a reference with its markup, or a plain text. */
  reference: Reference | null;
  text: string;
}

/** A standard emoji with its short names. */
export interface StandardEmoji {
  emoji: string;
  names: readonly string[];
}

const MAX_COMPLETIONS = 10;

/** What can be completed at the caret; null for nothing. */
export function findTrigger(text: string, caret: number): Trigger | null {
  const before = text.slice(0, caret);
  const command = /^\/([^\n]*)$/.exec(before);
  if (command?.[1] !== undefined && caret === text.length) {
    return { kind: "command", query: command[1], start: 0 };
  }
  const match = /(?:^|[\s(*_~|>])([@#])([^\s@#:]{0,32})$/.exec(before);
  if (match?.[1] !== undefined && match[2] !== undefined) {
    const kind = match[1] === "@" ? "mention" : "channel";
    return { kind, query: match[2], start: caret - match[2].length - 1 };
  }
  const emoji = /(?:^|[^\p{L}\p{N}:])(:([\p{L}\p{N}_+-]{2,32}))$/u.exec(before);
  return emoji?.[1] === undefined || emoji[2] === undefined
    ? null
    : { kind: "emoji", query: emoji[2], start: caret - emoji[1].length };
}

/** How well a name matches a query: 0 for one that begins with it, 1 for one with such a word, 2 else; null for none. */
export function matchRank(name: string, query: string): number | null {
  const [text, part] = [fold(name), fold(query)];
  if (text.startsWith(part)) {
    return 0;
  }
  const index = text.indexOf(part);
  return index < 0 ? null : /[\p{L}\p{N}]/u.test(text[index - 1] ?? "") ? 2 : 1;
}

/** A text for comparison: without case and accents. */
function fold(text: string): string {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/** The best matches of a list, each by the best of its names. */
export function bestMatches<T>(
  items: Iterable<T>,
  query: string,
  names: (item: T) => readonly string[],
  maximum: number = MAX_COMPLETIONS,
): T[] {
  const ranked: { item: T; rank: number; name: string }[] = [];
  for (const item of items) {
    const [name = "", ...others] = names(item);
    const ranks = [name, ...others].map((each) => matchRank(each, query)).filter((rank) => rank !== null);
    if (ranks.length > 0) {
      ranked.push({ item, rank: Math.min(...ranks), name });
    }
  }
  return ranked
    .sort((a, b) => a.rank - b.rank || a.name.length - b.name.length || a.name.localeCompare(b.name))
    .slice(0, maximum)
    .map((each) => each.item);
}

/** The users who can be mentioned in a channel: members of its guild, or its recipients. */
export function mentionableUsers(state: State, channel: APIChannel): APIUser[] {
  const guildId = guildIdOf(channel);
  if (guildId !== null) {
    return Object.values(state.members[guildId] ?? {}).map((member) => member.user);
  }
  const recipients = "recipients" in channel ? (channel.recipients ?? []) : [];
  return state.user === null ? recipients : [...recipients, state.user];
}

/** Users, roles, @everyone and @here. */
export function mentionCompletions(state: State, channel: APIChannel, query: string): Completion[] {
  const guildId = guildIdOf(channel);
  const users = bestMatches(mentionableUsers(state, channel), query, (user) => [
    displayName(state, user, guildId),
    user.username,
  ]).map((user): Completion => {
    const text = `@${user.username}`;
    return {
      key: `user ${user.id}`,
      label: displayName(state, user, guildId),
      detail: user.username,
      icon: { kind: "user", user },
      reference: { text, markup: `<@${user.id}>` },
      text,
    };
  });
  if (guildId === null) {
    return users;
  }
  const mayMentionAll = has(
    channelPermissions(state, channel, state.user?.id ?? ""),
    Permission.MentionEveryone,
  );
  const mentionable = Object.values(state.guilds[guildId]?.roles ?? {}).filter(
    (role) => role.id !== guildId && (role.mentionable || mayMentionAll),
  );
  const roles = bestMatches(mentionable, query, (role) => [role.name]).map((role): Completion => {
    const text = `@${role.name}`;
    const color = role.color === 0 ? null : `#${role.color.toString(16).padStart(6, "0")}`;
    return {
      key: `role ${role.id}`,
      label: text,
      icon: { kind: "role", color },
      reference: { text, markup: `<@&${role.id}>` },
      text,
    };
  });
  const everyone = (mayMentionAll ? ["everyone", "here"] : [])
    .filter((name) => matchRank(name, query) === 0)
    .map((name): Completion => {
      const text = `@${name}`;
      return { key: name, label: text, icon: { kind: "everyone" }, reference: null, text };
    });
  return [...users, ...roles, ...everyone].slice(0, MAX_COMPLETIONS);
}

/** The channels and threads of a guild that the user can view. */
export function viewableChannels(state: State, guildId: string | null): APIChannel[] {
  const userId = state.user?.id ?? "";
  return Object.values(state.channels).filter(
    (channel) =>
      guildIdOf(channel) === guildId &&
      channel.type !== ChannelType.GuildCategory &&
      has(channelPermissions(state, channel, userId), Permission.ViewChannel),
  );
}

export function channelCompletions(state: State, guildId: string | null, query: string): Completion[] {
  if (guildId === null) {
    return [];
  }
  const names = (channel: APIChannel) => [channelName(state, channel)];
  return bestMatches(viewableChannels(state, guildId), query, names).map((channel): Completion => {
    const text = `#${channelName(state, channel)}`;
    return {
      key: `channel ${channel.id}`,
      label: text,
      icon: { kind: "channel", type: channel.type },
      reference: { text, markup: `<#${channel.id}>` },
      text,
    };
  });
}

/** The custom emojis that the user can use in a channel: those of its guild, and of others where that is allowed. */
export function usableEmojis(state: State, channel: APIChannel): APIEmoji[] {
  const guildId = guildIdOf(channel);
  const mayUseOthers =
    guildId === null ||
    has(channelPermissions(state, channel, state.user?.id ?? ""), Permission.UseExternalEmojis);
  const guilds = orderedGuilds(state)
    .filter((guild) => guild.id === guildId || mayUseOthers)
    .sort((a, b) => Number(b.id === guildId) - Number(a.id === guildId));
  return guilds.flatMap((guild) => {
    const roles = state.members[guild.id]?.[state.user?.id ?? ""]?.roles ?? [];
    return guild.emojis.filter(
      (emoji) =>
        emoji.available !== false &&
        (!emoji.roles?.length || emoji.roles.some((roleId) => roles.includes(roleId))),
    );
  });
}

export function emojiMarkup(emoji: Pick<APIEmoji, "id" | "name" | "animated">): string {
  return `<${emoji.animated ? "a" : ""}:${emoji.name ?? ""}:${emoji.id ?? ""}>`;
}

/** Custom emojis first, then standard ones. */
export function emojiCompletions(
  state: State,
  channel: APIChannel,
  standard: readonly StandardEmoji[],
  query: string,
): Completion[] {
  const custom = bestMatches(usableEmojis(state, channel), query, (emoji) => [emoji.name ?? ""]).map(
    (emoji): Completion => {
      const text = `:${emoji.name ?? ""}:`;
      return {
        key: `emoji ${emoji.id ?? ""}`,
        label: text,
        icon: { kind: "emoji", id: emoji.id, name: emoji.name ?? "" },
        reference: { text, markup: emojiMarkup(emoji) },
        text,
      };
    },
  );
  const unicode = bestMatches(standard, query, (each) => each.names).map((each): Completion => ({
    key: each.emoji,
    label: `:${each.names.find((name) => matchRank(name, query) === 0) ?? each.names[0] ?? ""}:`,
    icon: { kind: "emoji", id: null, name: each.emoji },
    reference: null,
    text: each.emoji,
  }));
  return [...custom, ...unicode].slice(0, MAX_COMPLETIONS);
}

/** Short names of emojis, such as `:wave:`, as the emojis themselves, except in code. */
export function expandShortNames(
  text: string,
  standard: readonly StandardEmoji[],
  custom: readonly APIEmoji[],
): string {
  if (!/:[\p{L}\p{N}_+-]{2,32}:/u.test(text)) {
    return text;
  }
  const emojis = new Map<string, string>();
  for (const { emoji, names } of standard) {
    for (const name of names) {
      emojis.set(name, emoji);
    }
  }
  for (const emoji of custom) {
    emojis.set(emoji.name ?? "", emojiMarkup(emoji));
  }
  return text
    .split(/(`[^`]*`|<[^<>\s]*>)/)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part.replace(/:([\p{L}\p{N}_+-]{2,32}):/gu, (whole, name: string) => emojis.get(name) ?? whole),
    )
    .join("");
}
