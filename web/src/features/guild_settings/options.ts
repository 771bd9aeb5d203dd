import { ChannelType, Permission } from "../../api/enums";
import { guildPermissions, has } from "../../store/permissions";
import { compareIds } from "../../store/records";
import { guildIdOf } from "../../store/channels";
import { channelName } from "../../store/selectors";
import type { GuildState, State } from "../../store/state";
import type { APIRole } from "discord-api-types/v10";

import type { PickerOption } from "../../ui/fields";

/** The channels of a guild of some types, by position, for a list to choose from. */
export function channelOptions(state: State, guildId: string, types: readonly ChannelType[]): PickerOption[] {
  return Object.values(state.channels)
    .filter((channel) => guildIdOf(channel) === guildId && types.includes(channel.type))
    .sort(
      (a, b) =>
        ("position" in a ? a.position : 0) - ("position" in b ? b.position : 0) || compareIds(a.id, b.id),
    )
    .map((channel) => ({ id: channel.id, name: `#${channelName(state, channel)}` }));
}

/** Options with a first one for none, for a `Select`. */
export function optional(options: readonly PickerOption[], none: string): (readonly [string, string])[] {
  return [["", none] as const, ...options.map(({ id, name }) => [id, name] as const)];
}

/** Channels that hold messages. */
export const TEXT_TYPES: readonly ChannelType[] = [ChannelType.GuildText, ChannelType.GuildAnnouncement];

/** Channels that members can open. */
export const OPEN_TYPES: readonly ChannelType[] = [
  ...TEXT_TYPES,
  ChannelType.GuildVoice,
  ChannelType.GuildStageVoice,
  ChannelType.GuildForum,
  ChannelType.GuildMedia,
];

/** The roles of a guild from the highest to the lowest, @everyone last. */
export function orderedRoles(guild: GuildState): APIRole[] {
  return Object.values(guild.roles).sort((a, b) => b.position - a.position || compareIds(a.id, b.id));
}

/** The roles that can be chosen somewhere, without @everyone. */
export function roleOptions(guild: GuildState): PickerOption[] {
  return orderedRoles(guild)
    .filter((role) => role.id !== guild.id)
    .map(({ id, name }) => ({ id, name: `@${name}` }));
}

/** Whether the user ranks above a role: the owner above all, others above the roles below their highest. */
export function outranks(state: State, guild: GuildState, role: APIRole): boolean {
  const userId = state.user?.id ?? "";
  if (guild.ownerId === userId) {
    return true;
  }
  const own = orderedRoles(guild).filter(
    ({ id }) => id === guild.id || state.members[guild.id]?.[userId]?.roles.includes(id),
  );
  const highest = own[0];
  return highest !== undefined && (highest.position - role.position || compareIds(role.id, highest.id)) > 0;
}

/** Whether the user ranks above a member and has a permission, so that they may act on them. */
export function mayActOn(
  state: State,
  guild: GuildState,
  target: { userId: string; roles: readonly string[] },
  permission: bigint,
): boolean {
  const userId = state.user?.id ?? "";
  return (
    target.userId !== userId &&
    target.userId !== guild.ownerId &&
    has(guildPermissions(state, guild.id, userId), permission) &&
    target.roles.every((id) => {
      const role = guild.roles[id];
      return role === undefined || outranks(state, guild, role);
    })
  );
}

/** Whether the user may give a role to members, or take it. */
export function isAssignable(state: State, guild: GuildState, role: APIRole): boolean {
  return (
    role.id !== guild.id &&
    !role.managed &&
    has(guildPermissions(state, guild.id, state.user?.id ?? ""), Permission.ManageRoles) &&
    outranks(state, guild, role)
  );
}
