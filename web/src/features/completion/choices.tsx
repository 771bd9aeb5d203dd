import type { APIChannel, APIUser } from "discord-api-types/v10";
import { AtSign } from "lucide-react";
import type { ReactNode } from "react";

import { avatarUrl } from "../../api/images";
import { guildIdOf } from "../../store/channels";
import { channelName, displayName } from "../../store/selectors";
import type { State } from "../../store/state";
import { Avatar } from "../../ui/controls";
import { ChannelIcon } from "../channels/ChannelIcon";
import { bestMatches, mentionableUsers, viewableChannels } from "./completion";

/** A user, role or channel that can be chosen. */
export interface Choice {
  id: string;
  label: string;
  detail?: string;
  icon: ReactNode;
}

const MAX_CHOICES = 25;

/** The users of a channel whose names match a text, best first. */
export function userChoices(state: State, channel: APIChannel, query: string): Choice[] {
  const guildId = guildIdOf(channel);
  return choicesOf(state, mentionableUsers(state, channel), guildId, query);
}

function choicesOf(state: State, users: readonly APIUser[], guildId: string | null, query: string): Choice[] {
  return bestMatches(
    users,
    query,
    (user) => [displayName(state, user, guildId), user.username],
    MAX_CHOICES,
  ).map((user) => {
    const label = displayName(state, user, guildId);
    const icon = <Avatar url={avatarUrl(user, 20)} name={label} size={20} hueKey={user.id} />;
    return { id: user.id, label, ...(label !== user.username && { detail: user.username }), icon };
  });
}

/** The roles of a guild, without that of all members. */
export function roleChoices(state: State, guildId: string | null, query: string): Choice[] {
  const roles = guildId === null ? [] : Object.values(state.guilds[guildId]?.roles ?? {});
  const others = roles.filter((role) => role.id !== guildId);
  return bestMatches(others, query.replace(/^@/, ""), (role) => [role.name], MAX_CHOICES).map((role) => ({
    id: role.id,
    label: `@${role.name}`,
    icon: <AtSign size={18} aria-hidden="true" />,
  }));
}

/** The channels of a guild, or those of some types. */
export function channelChoices(
  state: State,
  guildId: string | null,
  types: readonly number[] | undefined,
  query: string,
): Choice[] {
  const fits = viewableChannels(state, guildId).filter(
    (channel) => !types?.length || types.includes(channel.type),
  );
  return bestMatches(
    fits,
    query.replace(/^#/, ""),
    (channel) => [channelName(state, channel)],
    MAX_CHOICES,
  ).map((channel) => ({
    id: channel.id,
    label: `#${channelName(state, channel)}`,
    icon: <ChannelIcon type={channel.type} />,
  }));
}

/** The members of a guild whose names match a text, best first. */
export function memberChoices(state: State, guildId: string, query: string): Choice[] {
  const users = Object.values(state.members[guildId] ?? {}).map((member) => member.user);
  return choicesOf(state, users, guildId, query);
}
