import type { APIChannel } from "discord-api-types/v10";

import { Permission } from "../../api/enums";
import { guildIdOf } from "../../store/channels";
import { channelPermissions, has } from "../../store/permissions";
import { channelName } from "../../store/selectors";
import type { State } from "../../store/state";
import { mentionableUsers, viewableChannels } from "./completion";

/**
 * A text as it is sent: what was typed as the exact name of a user, role or channel becomes its mention, as short names
 * become emojis. Code stays as it is, and so does a name that several have.
 */
export function expandTypedNames(text: string, state: State, channel: APIChannel): string {
  if (!/[@#]/.test(text)) {
    return text;
  }
  const markups = typedMarkups(text, state, channel);
  if (markups.size === 0) {
    return text;
  }
  const names = [...markups.keys()].sort((a, b) => b.length - a.length).map(escapeRegExp);
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}_@#<&/.-])(?:${names.join("|")})(?![\\p{L}\\p{N}_])`, "giu");
  const markupOf = (name: string) => {
    const exact = markups.get(name);
    return (exact === undefined ? markups.get(name.toLowerCase()) : exact) ?? name;
  };
  return text
    .split(/(```[\s\S]*?```|`[^`]*`|<[^<>\s]*>|https?:\/\/\S+)/)
    .map((part, index) => (index % 2 === 1 ? part : part.replace(pattern, markupOf)))
    .join("");
}

/** The mentions by the names in a text, as they are written and in lower case; null for a name that several have. */
function typedMarkups(text: string, state: State, channel: APIChannel): Map<string, string | null> {
  const typed = text.toLowerCase();
  const markups = new Map<string, string | null>();
  const exact = new Map<string, string | null>();
  const put = (map: Map<string, string | null>, key: string, markup: string) =>
    map.set(key, map.has(key) && map.get(key) !== markup ? null : markup);
  const add = (name: string, markup: string) => {
    const key = name.toLowerCase();
    if (name.length > 1 && typed.includes(key)) {
      put(markups, key, markup);
      put(exact, name, markup);
    }
  };
  const guildId = guildIdOf(channel);
  if (typed.includes("@")) {
    const permissions = channelPermissions(state, channel, state.user?.id ?? "");
    const mayMentionAll = has(permissions, Permission.MentionEveryone);
    for (const role of Object.values(state.guilds[guildId ?? ""]?.roles ?? {})) {
      if (role.id !== guildId && (role.mentionable || mayMentionAll)) {
        add(`@${role.name}`, `<@&${role.id}>`);
      }
    }
    for (const user of mentionableUsers(state, channel)) {
      add(`@${user.username}`, `<@${user.id}>`);
    }
  }
  if (typed.includes("#") && guildId !== null) {
    for (const each of viewableChannels(state, guildId)) {
      add(`#${channelName(state, each)}`, `<#${each.id}>`);
    }
  }
  // A name in its own letters comes before one that differs in case.
  return new Map([...markups, ...exact]);
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}
