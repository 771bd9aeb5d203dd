import type { APIUser } from "discord-api-types/v10";

import type { ApiClient } from "./client";

/** Change settings of the user; the fields are those of the state. Returns all settings. */
export function modifySettings(api: ApiClient, changes: object): Promise<Record<string, unknown>> {
  return api.request("PATCH", "/users/@me/settings", { body: changes });
}

/** Change notification settings of a guild, or with "@me" of direct messages. Returns all of them. */
export function modifyGuildSettings(
  api: ApiClient,
  guildId: string,
  changes: object,
): Promise<Record<string, unknown>> {
  return api.request("PATCH", `/users/@me/guilds/${guildId}/settings`, { body: changes });
}

export interface AuthSession {
  id_hash: string;
  /** When it was used last, to the hour (ISO 8601). */
  approx_last_used_time: string;
  client_info: { os: string | null; platform: string | null; location: string | null };
  /** Whether this client is logged in by it. */
  is_current: boolean;
}

export async function getSessions(api: ApiClient): Promise<AuthSession[]> {
  const response = await api.request<{ user_sessions: AuthSession[] }>("GET", "/auth/sessions");
  return response.user_sessions;
}

/** End logins of the user, which needs their password. */
export function endSessions(api: ApiClient, idHashes: readonly string[], password: string): Promise<void> {
  return api.request("POST", "/auth/sessions/logout", { body: { session_id_hashes: idHashes, password } });
}

export interface Authorization {
  id: string;
  scopes: string[];
  user_install: boolean;
  application: { id: string; name: string; icon: string | null; description: string };
}

export function getAuthorizations(api: ApiClient): Promise<Authorization[]> {
  return api.request("GET", "/oauth2/tokens");
}

export function revokeAuthorization(api: ApiClient, authorizationId: string): Promise<void> {
  return api.request("DELETE", `/oauth2/tokens/${authorizationId}`);
}

/** An account of the user on another service. */
export interface Connection {
  id: string;
  name: string;
  type: string;
  /** 1 for everyone, 0 for the user alone. */
  visibility: number;
}

export function getConnections(api: ApiClient): Promise<Connection[]> {
  return api.request("GET", "/users/@me/connections");
}

export function putConnection(api: ApiClient, connection: Connection): Promise<Connection> {
  return api.request("PUT", connectionPath(connection), {
    body: { name: connection.name, visibility: connection.visibility },
  });
}

export function deleteConnection(api: ApiClient, connection: Connection): Promise<void> {
  return api.request("DELETE", connectionPath(connection));
}

function connectionPath({ type, id }: Connection): string {
  return `/users/@me/connections/${type}/${encodeURIComponent(id)}`;
}

/** A request for an archive of the user's data. */
export interface Harvest {
  /** 0 queued, 1 running, 2 failed, 3 completed. */
  status: number;
  created_at: string;
  completed_at: string | null;
  /** In bytes. */
  size: number;
  /** Valid for an hour; null while there is no archive. */
  download_url: string | null;
}

/** The newest request; null without one. */
export async function getHarvest(api: ApiClient): Promise<Harvest | null> {
  return (await api.request<Harvest | undefined>("GET", "/users/@me/harvest")) ?? null;
}

/** Request an archive of kinds of data: accounts, messages, servers. */
export function createHarvest(api: ApiClient, kinds: readonly string[]): Promise<Harvest> {
  return api.request("POST", "/users/@me/harvest", { body: { backends: kinds } });
}

export function getCurrentUser(api: ApiClient): Promise<APIUser> {
  return api.request("GET", "/users/@me");
}
