import type { APIRole } from "discord-api-types/v10";

import type { ApiClient } from "./client";

export interface RoleColors {
  primary_color: number;
  secondary_color: number | null;
  tertiary_color: number | null;
}

export interface RoleChanges {
  name?: string;
  permissions?: string;
  colors?: RoleColors;
  hoist?: boolean;
  mentionable?: boolean;
  /** A data URI; null removes the icon. */
  icon?: string | null;
  unicode_emoji?: string | null;
}

export function createRole(api: ApiClient, guildId: string, changes: RoleChanges): Promise<APIRole> {
  return api.request("POST", `/guilds/${guildId}/roles`, { body: changes });
}

export function modifyRole(
  api: ApiClient,
  guildId: string,
  roleId: string,
  changes: RoleChanges,
): Promise<APIRole> {
  return api.request("PATCH", `/guilds/${guildId}/roles/${roleId}`, { body: changes });
}

export function deleteRole(api: ApiClient, guildId: string, roleId: string): Promise<void> {
  return api.request("DELETE", `/guilds/${guildId}/roles/${roleId}`);
}

export function modifyRolePositions(
  api: ApiClient,
  guildId: string,
  positions: readonly { id: string; position: number }[],
): Promise<APIRole[]> {
  return api.request("PATCH", `/guilds/${guildId}/roles`, { body: positions });
}

/** The number of members of each role, by role id, without @everyone. */
export function getRoleMemberCounts(api: ApiClient, guildId: string): Promise<Record<string, number>> {
  return api.request("GET", `/guilds/${guildId}/roles/member-counts`);
}

/** Give a role to a member, or take it. */
export function setMemberRole(
  api: ApiClient,
  guildId: string,
  userId: string,
  roleId: string,
  has: boolean,
): Promise<void> {
  return api.request(has ? "PUT" : "DELETE", `/guilds/${guildId}/members/${userId}/roles/${roleId}`);
}
