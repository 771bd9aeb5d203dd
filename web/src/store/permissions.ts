import { OverwriteType, Permission } from "../api/enums";
import type { APIChannel } from "discord-api-types/v10";

import type { State } from "./state";

/** What the owner and administrators have: every permission. Bit 47 is assigned to none. */
export const ALL_PERMISSIONS = ((1n << 53n) - 1n) & ~(1n << 47n);

/** The roles of the user in a guild, or those that they preview it with; null for a user who is no member. */
function roleIds(state: State, guildId: string, userId: string): readonly string[] | null {
  if (isPreview(state, guildId, userId)) {
    return state.rolePreview?.roleIds ?? null;
  }
  return state.members[guildId]?.[userId]?.roles ?? null;
}

function isPreview(state: State, guildId: string, userId: string): boolean {
  return state.rolePreview?.guildId === guildId && state.user?.id === userId;
}

/** A user's permissions in a guild; 0 for a user who is no member, as far as the state knows. */
export function guildPermissions(state: State, guildId: string, userId: string): bigint {
  const guild = state.guilds[guildId];
  const roles = roleIds(state, guildId, userId);
  if (guild === undefined || roles === null) {
    return 0n;
  }
  if (guild.ownerId === userId && !isPreview(state, guildId, userId)) {
    return ALL_PERMISSIONS;
  }
  let permissions = BigInt(guild.roles[guildId]?.permissions ?? 0);
  for (const roleId of roles) {
    permissions |= BigInt(guild.roles[roleId]?.permissions ?? 0);
  }
  return permissions & Permission.Administrator ? ALL_PERMISSIONS : permissions;
}

/** A user's permissions in a channel of a guild, or in a thread through its parent. */
export function channelPermissions(state: State, channel: APIChannel, userId: string): bigint {
  const guildId = "guild_id" in channel ? channel.guild_id : undefined;
  if (guildId === undefined) {
    return ALL_PERMISSIONS;
  }
  const base = guildPermissions(state, guildId, userId);
  if (base === ALL_PERMISSIONS) {
    return base;
  }
  const source =
    "permission_overwrites" in channel && channel.permission_overwrites
      ? channel
      : "parent_id" in channel && channel.parent_id
        ? state.channels[channel.parent_id]
        : undefined;
  const overwrites =
    source !== undefined && "permission_overwrites" in source ? (source.permission_overwrites ?? []) : [];
  const roles = new Set(roleIds(state, guildId, userId) ?? []);
  let permissions = base;
  const apply = (allow: bigint, deny: bigint) => {
    permissions = (permissions & ~deny) | allow;
  };
  const everyone = overwrites.find((overwrite) => overwrite.id === guildId);
  if (everyone) {
    apply(BigInt(everyone.allow), BigInt(everyone.deny));
  }
  let roleAllow = 0n;
  let roleDeny = 0n;
  for (const overwrite of overwrites) {
    if (overwrite.type === OverwriteType.Role && overwrite.id !== guildId && roles.has(overwrite.id)) {
      roleAllow |= BigInt(overwrite.allow);
      roleDeny |= BigInt(overwrite.deny);
    }
  }
  apply(roleAllow, roleDeny);
  const own = overwrites.find(
    (overwrite) => overwrite.type === OverwriteType.Member && overwrite.id === userId,
  );
  if (own && !isPreview(state, guildId, userId)) {
    apply(BigInt(own.allow), BigInt(own.deny));
  }
  return timedOutUntil(state, guildId, userId, Date.now()) === null
    ? permissions
    : permissions & WHILE_TIMED_OUT;
}

/** What members may do while they are timed out. */
const WHILE_TIMED_OUT = Permission.ViewChannel | Permission.ReadMessageHistory;

/** Until when a member is timed out, in milliseconds since the epoch; null if they are not. */
export function timedOutUntil(state: State, guildId: string, userId: string, now: number): number | null {
  const until = state.members[guildId]?.[userId]?.communication_disabled_until;
  const time = until ? Date.parse(until) : 0;
  return time > now ? time : null;
}

export function has(permissions: bigint, flag: bigint): boolean {
  return (permissions & flag) === flag;
}
