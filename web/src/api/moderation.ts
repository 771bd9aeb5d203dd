import type {
  APIAutoModerationRule,
  APIBan,
  APIGuildMember,
  RESTGetAPIAuditLogResult,
} from "discord-api-types/v10";

import type { ApiClient } from "./client";

export const MEMBERS_PER_PAGE = 200;
export const BANS_PER_PAGE = 500;
export const ENTRIES_PER_PAGE = 50;

/** Members by ascending user id, from the one after `after`. */
export function listMembers(api: ApiClient, guildId: string, after: string): Promise<APIGuildMember[]> {
  return api.request("GET", `/guilds/${guildId}/members`, { query: { limit: MEMBERS_PER_PAGE, after } });
}

/** Members whose username or nickname starts with a text. */
export function searchMembers(api: ApiClient, guildId: string, query: string): Promise<APIGuildMember[]> {
  return api.request("GET", `/guilds/${guildId}/members/search`, {
    query: { query, limit: MEMBERS_PER_PAGE },
  });
}

export interface MemberChanges {
  nick?: string | null;
  roles?: readonly string[];
  communication_disabled_until?: string | null;
}

export function modifyMember(
  api: ApiClient,
  guildId: string,
  userId: string,
  changes: MemberChanges,
  reason = "",
): Promise<APIGuildMember> {
  return api.request("PATCH", `/guilds/${guildId}/members/${userId}`, { body: changes, reason });
}

export interface BulkBanResult {
  banned_users: string[];
  failed_users: string[];
}

export function bulkBan(
  api: ApiClient,
  guildId: string,
  userIds: readonly string[],
  options: { reason: string; deleteMessageSeconds: number },
): Promise<BulkBanResult> {
  return api.request("POST", `/guilds/${guildId}/bulk-ban`, {
    reason: options.reason,
    body: { user_ids: userIds, delete_message_seconds: options.deleteMessageSeconds },
  });
}

/** Bans by ascending user id, from the one after `after`. */
export function listBans(api: ApiClient, guildId: string, after: string): Promise<APIBan[]> {
  return api.request("GET", `/guilds/${guildId}/bans`, { query: { limit: BANS_PER_PAGE, after } });
}

export function getBan(api: ApiClient, guildId: string, userId: string): Promise<APIBan> {
  return api.request("GET", `/guilds/${guildId}/bans/${userId}`);
}

export function removeBan(api: ApiClient, guildId: string, userId: string): Promise<void> {
  return api.request("DELETE", `/guilds/${guildId}/bans/${userId}`);
}

export interface PruneOptions {
  days: number;
  roleIds: readonly string[];
}

/** The number of members that a prune would remove. */
export async function countPrune(api: ApiClient, guildId: string, options: PruneOptions): Promise<number> {
  const include = options.roleIds.length === 0 ? {} : { include_roles: options.roleIds.join(",") };
  const result = await api.request<{ pruned: number }>("GET", `/guilds/${guildId}/prune`, {
    query: { days: options.days, ...include },
  });
  return result.pruned;
}

export async function prune(
  api: ApiClient,
  guildId: string,
  options: PruneOptions,
  reason: string,
): Promise<number | null> {
  const result = await api.request<{ pruned: number | null }>("POST", `/guilds/${guildId}/prune`, {
    body: { days: options.days, include_roles: options.roleIds },
    reason,
  });
  return result.pruned;
}

export interface AuditLogFilter {
  userId: string | null;
  actionType: number | null;
}

/** Entries of the audit log, newest first, from the one before `before`. */
export function getAuditLog(
  api: ApiClient,
  guildId: string,
  filter: AuditLogFilter,
  before: string | null,
): Promise<RESTGetAPIAuditLogResult> {
  return api.request("GET", `/guilds/${guildId}/audit-logs`, {
    query: {
      limit: ENTRIES_PER_PAGE,
      ...(filter.userId !== null && { user_id: filter.userId }),
      ...(filter.actionType !== null && { action_type: filter.actionType }),
      ...(before !== null && { before }),
    },
  });
}

/** What creates a rule; the metadata depend on its types. */
export interface RuleBody {
  name: string;
  enabled: boolean;
  event_type: number;
  trigger_type: number;
  trigger_metadata: object;
  actions: readonly { type: number; metadata: object }[];
  exempt_roles: readonly string[];
  exempt_channels: readonly string[];
}

const rulesOf = (guildId: string) => `/guilds/${guildId}/auto-moderation/rules`;

export function listRules(api: ApiClient, guildId: string): Promise<APIAutoModerationRule[]> {
  return api.request("GET", rulesOf(guildId));
}

export function createRule(api: ApiClient, guildId: string, body: RuleBody): Promise<APIAutoModerationRule> {
  return api.request("POST", rulesOf(guildId), { body });
}

export function modifyRule(
  api: ApiClient,
  guildId: string,
  ruleId: string,
  body: Partial<RuleBody>,
): Promise<APIAutoModerationRule> {
  return api.request("PATCH", `${rulesOf(guildId)}/${ruleId}`, { body });
}

export function deleteRule(api: ApiClient, guildId: string, ruleId: string): Promise<void> {
  return api.request("DELETE", `${rulesOf(guildId)}/${ruleId}`);
}

export interface IncidentActions {
  invites_disabled_until?: string | null;
  dms_disabled_until?: string | null;
}

/** Pause invites or direct messages until a moment (ISO 8601, at most a day ahead), or end a pause with null. */
export function modifyIncidentActions(
  api: ApiClient,
  guildId: string,
  actions: IncidentActions,
): Promise<IncidentActions> {
  return api.request("PUT", `/guilds/${guildId}/incident-actions`, { body: actions });
}
