import { ROWS_PER_PAGE } from "./admin";
import type { ApiClient } from "./client";

const BASE = "/admin/v1";

export type Span = "hour" | "day";

/** What an hour or a day had; null are numbers of which nothing was stored. */
export interface FigureSample {
  start: string;
  users: number | null;
  guilds: number | null;
  file_bytes: number | null;
  messages: number;
  requests: number;
  errors: number;
  median_ms: number | null;
  p99_ms: number | null;
}

export function listFigures(api: ApiClient, span: Span, limit: number): Promise<FigureSample[]> {
  return api.request("GET", `${BASE}/figures`, { query: { span, limit } });
}

export interface BackgroundJob {
  id: string;
  kind: string;
  state: "waiting" | "scheduled" | "retrying" | "failed";
  attempts: number;
  created_at: string;
  next_attempt_at: string | null;
  failed_at: string | null;
  last_error: string | null;
}

export function listJobs(
  api: ApiClient,
  { failed }: { failed: boolean },
  after: string | undefined,
): Promise<BackgroundJob[]> {
  return api.request("GET", `${BASE}/jobs`, { query: { failed, after, limit: ROWS_PER_PAGE } });
}

/** Run a job again whose last attempt failed. */
export function retryJob(api: ApiClient, jobId: string, reason: string): Promise<unknown> {
  return api.request("POST", `${BASE}/jobs/${jobId}/retry`, { reason });
}

export function retryFailedJobs(api: ApiClient, reason: string): Promise<{ count: number }> {
  return api.request("POST", `${BASE}/jobs/retry`, { body: {}, reason });
}

/** Delete a job; what is left of its work is never done. */
export function dropJob(api: ApiClient, jobId: string, reason: string): Promise<unknown> {
  return api.request("DELETE", `${BASE}/jobs/${jobId}`, { reason });
}

export type MailState = "waiting" | "sent" | "failed";

export interface LoggedMail {
  id: string;
  kind: string;
  address: string;
  state: MailState;
  attempts: number;
  created_at: string;
  next_attempt_at: string | null;
  sent_at: string | null;
  last_error: string | null;
}

export function listMails(
  api: ApiClient,
  { state }: { state: MailState | "" },
  before: string | undefined,
): Promise<LoggedMail[]> {
  return api.request("GET", `${BASE}/mails`, {
    query: { state: state || undefined, before, limit: ROWS_PER_PAGE },
  });
}

export interface AdministeredApplication {
  id: string;
  name: string;
  owner_id: string;
  owner_name: string | null;
  disabled: boolean;
  created_at: string;
  guild_count: number;
}

export function listAdministeredApplications(
  api: ApiClient,
  { search }: { search: string },
  before: string | undefined,
): Promise<AdministeredApplication[]> {
  return api.request("GET", `${BASE}/applications`, { query: { search, before, limit: ROWS_PER_PAGE } });
}

/** Disable an application, whose tokens are then refused, or enable it again. */
export function setApplicationDisabled(
  api: ApiClient,
  applicationId: string,
  disabled: boolean,
  reason: string,
): Promise<unknown> {
  return api.request("PATCH", `${BASE}/applications/${applicationId}`, { body: { disabled }, reason });
}

export function deleteAdministeredApplication(
  api: ApiClient,
  applicationId: string,
  reason: string,
): Promise<unknown> {
  return api.request("DELETE", `${BASE}/applications/${applicationId}`, { reason });
}

export interface AdministeredAnnouncement {
  id: string;
  content: string;
  urgent: boolean;
  created_at: string;
  ends_at: string;
}

export function listAdministeredAnnouncements(
  api: ApiClient,
  _filter: null,
  before: string | undefined,
): Promise<AdministeredAnnouncement[]> {
  return api.request("GET", `${BASE}/announcements`, { query: { before, limit: ROWS_PER_PAGE } });
}

/** Show words to everyone for so many hours. */
export function createAnnouncement(
  api: ApiClient,
  body: { content: string; hours: number; urgent: boolean },
  reason: string,
): Promise<unknown> {
  return api.request("POST", `${BASE}/announcements`, { body, reason });
}

export function endAnnouncement(api: ApiClient, announcementId: string, reason: string): Promise<unknown> {
  return api.request("DELETE", `${BASE}/announcements/${announcementId}`, { reason });
}

export interface GuildStorage {
  id: string;
  name: string | null;
  file_bytes: number;
  /** Megabytes; 0 for any number. */
  quota_mb: number;
}

export interface UserStorage {
  id: string;
  username: string | null;
  bot: boolean;
  file_bytes: number;
}

export function listGuildStorage(api: ApiClient): Promise<GuildStorage[]> {
  return api.request("GET", `${BASE}/storage/guilds`, { query: { limit: ROWS_PER_PAGE } });
}

export function listUserStorage(api: ApiClient): Promise<UserStorage[]> {
  return api.request("GET", `${BASE}/storage/users`, { query: { limit: ROWS_PER_PAGE } });
}

export type RuleScope = "instance" | "guild" | "channel";

export interface RetentionRule {
  scope: RuleScope;
  target_id: string | null;
  message_days: number | null;
  large_file_mb: number | null;
  large_file_days: number | null;
  changed_at: string;
}

export function listRetentionRules(api: ApiClient): Promise<RetentionRule[]> {
  return api.request("GET", `${BASE}/retention`);
}

/** Set a rule in place of the one before; without any days there is none. */
export function setRetentionRule(
  api: ApiClient,
  body: Omit<RetentionRule, "changed_at">,
  reason: string,
): Promise<unknown> {
  return api.request("PUT", `${BASE}/retention`, { body, reason });
}

export type HoldScope = "user" | "guild" | "channel";

export interface LegalHold {
  id: string;
  scope: HoldScope;
  target_id: string;
  name: string;
  created_at: string;
}

export interface RetainedMessage {
  copy_id: string;
  message_id: string;
  channel_id: string;
  author_id: string;
  deleted: boolean;
  retained_at: string;
  content: string;
  files: { id: string; filename: string }[];
}

export function listLegalHolds(api: ApiClient): Promise<LegalHold[]> {
  return api.request("GET", `${BASE}/holds`);
}

export function createLegalHold(
  api: ApiClient,
  body: { scope: HoldScope; target_id: string; name: string },
  reason: string,
): Promise<unknown> {
  return api.request("POST", `${BASE}/holds`, { body, reason });
}

/** End a hold, and delete the copies that are under no other one. */
export function releaseLegalHold(api: ApiClient, holdId: string, reason: string): Promise<unknown> {
  return api.request("DELETE", `${BASE}/holds/${holdId}`, { reason });
}

/** Read what is kept under a hold, which the log of operators tells. */
export function readRetainedMessages(
  api: ApiClient,
  holdId: string,
  reason: string,
): Promise<RetainedMessage[]> {
  return api.request("POST", `${BASE}/holds/${holdId}/messages`, { query: { limit: 100 }, reason });
}
