import type { Login } from "./accounts";
import { ApiClient } from "./client";

/** The kinds of acts of operators. */
export type OperatorPermission =
  | "users"
  | "guilds"
  | "reports"
  | "applications"
  | "announcements"
  | "settings"
  | "jobs"
  | "retention"
  | "log"
  | "operators"
  | "provisioning";

export interface Operator {
  user_id: string;
  username: string;
  permissions: OperatorPermission[];
  closed: boolean;
}

export interface Overview {
  instance_name: string;
  version: string;
  revision: string;
  registration: string;
  operators: number;
  figures: Figures;
}

export interface Figures {
  users: number;
  suspended_users: number;
  pending_users: number;
  bots: number;
  guilds: number;
  file_bytes: number;
  waiting_mails: number;
  failed_mails: number;
  waiting_jobs: number;
  failed_jobs: number;
}

export type UserState = "active" | "pending" | "closed" | "suspended";

export interface AdministeredUser {
  id: string;
  username: string;
  global_name: string | null;
  email: string | null;
  verified: boolean;
  state: UserState;
  deletes_at: string | null;
  created_at: string;
}

export interface AdministeredGuild {
  id: string;
  name: string;
  owner_id: string;
  owner_name: string | null;
  features: string[];
  premium_tier: number;
  member_count: number;
  max_members: number;
  created_at: string;
  /** When an operator has deleted it; null if it is there. */
  deleted_at: string | null;
  /** When it is deleted for good. */
  deletes_at: string | null;
}

export const OUTCOMES = [
  "no_violation",
  "warned",
  "content_removed",
  "account_closed",
  "guild_changed",
  "other",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Report {
  id: string;
  name: "message" | "user" | "guild";
  reason:
    | "spam"
    | "harassment"
    | "hate"
    | "violence"
    | "sexual"
    | "minors"
    | "self_harm"
    | "illegal"
    | "impersonation"
    | "other";
  reporter_id: string | null;
  /** Whom it is about. */
  user_id: string;
  guild_id: string | null;
  channel_id: string | null;
  target_id: string;
  description: string;
  created_at: string;
  state: "open" | "closed";
  closed_at: string | null;
  outcome: Outcome | null;
  note: string | null;
}

/** A report with the copy of what was reported: a message, a profile or a guild. */
export interface ReportWithEvidence extends Report {
  evidence: Record<string, unknown>;
}

export interface LogEntry {
  number: string;
  created_at: string;
  actor: string;
  origin: "session" | "token" | "command" | "setup";
  act: string;
  target_id: string | null;
  changes: Record<string, [unknown, unknown]>;
  reason: string | null;
}

export interface ServerSetting {
  name: string;
  value: unknown;
  configured: unknown;
  changed_at: string | null;
  changed_by: string | null;
}

/** A provider of OpenID Connect that people log in with. */
export interface IdentityProvider {
  id: string;
  name: string;
  label: string;
  issuer: string;
  client_id: string;
  has_secret: boolean;
  scopes: string;
  username_claim: string;
  groups_claim: string;
  creates_accounts: boolean;
  enabled: boolean;
  redirect_uri: string;
  logout_uri: string;
}

/** A group of a provider whose people are members of a guild, and have the role if there is one. */
export interface ProviderGroup {
  id: string;
  name: string;
  guild_id: string;
  guild_name: string;
  role_id: string | null;
  role_name: string | null;
}

const BASE = "/admin/v1";
const PROVIDERS = `${BASE}/identity-providers`;
/** Rows of a page of a list. */
export const ROWS_PER_PAGE = 25;

export function getCurrentOperator(api: ApiClient): Promise<Operator> {
  return api.request("GET", `${BASE}/operators/@me`);
}

export function getOverview(api: ApiClient): Promise<Overview> {
  return api.request("GET", `${BASE}/overview`);
}

export function listUsers(
  api: ApiClient,
  filter: { search: string; state: UserState | "unverified" | "" },
  before: string | undefined,
): Promise<AdministeredUser[]> {
  const query = { search: filter.search, state: filter.state || undefined, before, limit: ROWS_PER_PAGE };
  return api.request("GET", `${BASE}/users`, { query });
}

/** An act on an account that needs no more than a reason. */
export type UserAct = "suspend" | "restore" | "approve" | "log-out";

export function actOnUser(api: ApiClient, userId: string, act: UserAct, reason: string): Promise<unknown> {
  return api.request("POST", `${BASE}/users/${userId}/${act}`, { reason });
}

/** Make a link by which the owner of an account chooses a new password. */
export function createResetLink(
  api: ApiClient,
  userId: string,
  reason: string,
): Promise<{ link: string; expires_at: string }> {
  return api.request("POST", `${BASE}/users/${userId}/reset-link`, { body: {}, reason });
}

/** Suspend an account, and delete it after the days of the setting. */
export function deleteUser(api: ApiClient, userId: string, reason: string): Promise<unknown> {
  return api.request("DELETE", `${BASE}/users/${userId}`, { reason });
}

export function listAdministeredGuilds(
  api: ApiClient,
  { search, deleted }: { search: string; deleted: boolean },
  before: string | undefined,
): Promise<AdministeredGuild[]> {
  return api.request("GET", `${BASE}/guilds`, { query: { search, deleted, before, limit: ROWS_PER_PAGE } });
}

export interface AdministeredGuildWithUse extends AdministeredGuild {
  file_bytes: number;
  /** Megabytes, 0 for any number; null where the setting counts. */
  storage_quota_mb: number | null;
}

export function getAdministeredGuild(api: ApiClient, guildId: string): Promise<AdministeredGuildWithUse> {
  return api.request("GET", `${BASE}/guilds/${guildId}`);
}

/** Take a guild out of everyone's reach, and delete it for good after the days of the setting. */
export function deleteAdministeredGuild(api: ApiClient, guildId: string, reason: string): Promise<unknown> {
  return api.request("DELETE", `${BASE}/guilds/${guildId}`, { reason });
}

/** Bring a deleted guild back, with another owner if one is named. */
export function restoreAdministeredGuild(
  api: ApiClient,
  guildId: string,
  ownerId: string | null,
  reason: string,
): Promise<unknown> {
  return api.request("POST", `${BASE}/guilds/${guildId}/restore`, { body: { owner_id: ownerId }, reason });
}

export function modifyAdministeredGuild(
  api: ApiClient,
  guildId: string,
  changes: {
    features?: string[];
    premium_tier?: number;
    owner_id?: string;
    max_members?: number;
    storage_quota_mb?: number | null;
  },
  reason: string,
): Promise<unknown> {
  return api.request("PATCH", `${BASE}/guilds/${guildId}`, { body: changes, reason });
}

export function listReports(
  api: ApiClient,
  state: Report["state"],
  before: string | undefined,
): Promise<Report[]> {
  return api.request("GET", `${BASE}/reports`, {
    query: { closed: state === "closed", before, limit: ROWS_PER_PAGE },
  });
}

export function getReport(api: ApiClient, reportId: string): Promise<ReportWithEvidence> {
  return api.request("GET", `${BASE}/reports/${reportId}`);
}

/** Close a report with what was done, of which the reporter is notified. */
export function closeReport(
  api: ApiClient,
  reportId: string,
  body: { outcome: Outcome; note: string | null },
  reason: string,
): Promise<unknown> {
  return api.request("POST", `${BASE}/reports/${reportId}/close`, { body, reason });
}

export function listLog(api: ApiClient, act: string, before: string | undefined): Promise<LogEntry[]> {
  return api.request("GET", `${BASE}/log`, {
    query: { act: act || undefined, before, limit: ROWS_PER_PAGE },
  });
}

export function listServerSettings(api: ApiClient): Promise<ServerSetting[]> {
  return api.request("GET", `${BASE}/settings`);
}

export function modifyServerSettings(
  api: ApiClient,
  changes: Record<string, unknown>,
  reason: string,
): Promise<ServerSetting[]> {
  return api.request("PATCH", `${BASE}/settings`, { body: changes, reason });
}

export function listIdentityProviders(api: ApiClient): Promise<IdentityProvider[]> {
  return api.request("GET", PROVIDERS);
}

export function createIdentityProvider(
  api: ApiClient,
  body: Pick<IdentityProvider, "name" | "issuer" | "client_id"> & {
    label?: string;
    client_secret: string | null;
  },
  reason: string,
): Promise<IdentityProvider> {
  return api.request("POST", PROVIDERS, { body, reason });
}

export function modifyIdentityProvider(
  api: ApiClient,
  providerId: string,
  changes: Partial<Omit<IdentityProvider, "id" | "name" | "issuer">> & { client_secret?: string },
  reason: string,
): Promise<IdentityProvider> {
  return api.request("PATCH", `${PROVIDERS}/${providerId}`, { body: changes, reason });
}

/** Remove a provider with the links of accounts to it, and end the logins that came by it. */
export function deleteIdentityProvider(api: ApiClient, providerId: string, reason: string): Promise<unknown> {
  return api.request("DELETE", `${PROVIDERS}/${providerId}`, { reason });
}

/** Ask a provider what it says of itself. */
export function checkIdentityProvider(
  api: ApiClient,
  providerId: string,
): Promise<{ ok: boolean; problem: string | null; algorithms: string[] }> {
  return api.request("POST", `${PROVIDERS}/${providerId}/check`);
}

export function listProviderGroups(api: ApiClient, providerId: string): Promise<ProviderGroup[]> {
  return api.request("GET", `${PROVIDERS}/${providerId}/groups`);
}

export function addProviderGroup(
  api: ApiClient,
  providerId: string,
  body: { name: string; guild_id: string; role_id: string | null },
  reason: string,
): Promise<ProviderGroup> {
  return api.request("POST", `${PROVIDERS}/${providerId}/groups`, { body, reason });
}

export function removeProviderGroup(
  api: ApiClient,
  providerId: string,
  groupId: string,
  reason: string,
): Promise<unknown> {
  return api.request("DELETE", `${PROVIDERS}/${providerId}/groups/${groupId}`, { reason });
}

/** Whether something that the server needs works. */
export interface ServiceCheck {
  ok: boolean;
  /** The mail server, or where files are stored. */
  where: string;
  problem: string | null;
  answer: string | null;
  free_bytes: number | null;
}

/** Send a test message by the mail server in force. */
export function sendTestMail(api: ApiClient, address: string): Promise<ServiceCheck> {
  return api.request("POST", "/admin/v1/mail/test", { body: { address } });
}

/** Store a file where files are stored, read it, and delete it again. */
export function checkStorage(api: ApiClient): Promise<ServiceCheck> {
  return api.request("POST", "/admin/v1/storage/check");
}

/** Whether a link for the first operator is good. */
export function checkSetupLink(token: string): Promise<{ good: boolean }> {
  return new ApiClient(null).request("POST", "/admin/v1/setup/check", { body: { token } });
}

/** Make the first operator by the link on the server's console, and log in. */
export function claimServer(token: string, username: string, password: string): Promise<Login> {
  return new ApiClient(null).request("POST", "/admin/v1/setup", { body: { token, username, password } });
}
