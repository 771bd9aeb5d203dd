import type { APIRole } from "discord-api-types/v10";

import { Permission } from "../api/enums";
import { guildPermissions, has } from "./permissions";
import { compareIds } from "./records";
import type { GuildState, State } from "./state";

/** The roles of a guild from the highest to the lowest, @everyone last. */
export function orderedRoles(guild: GuildState): APIRole[] {
  return Object.values(guild.roles).sort((a, b) => b.position - a.position || compareIds(a.id, b.id));
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
