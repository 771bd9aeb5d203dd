import type { APIApplication, APIUser } from "discord-api-types/v10";

import { ApiClient } from "./client";

/** The settings of an Activity that the client reads. */
export interface ActivityConfig {
  application_id: string;
  supported_platforms: readonly string[];
  default_orientation_lock_state: number;
}

export interface ActivityShelf {
  activities: readonly ActivityConfig[];
  applications: readonly APIApplication[];
  /** Null if the operator has no host for Activities. */
  activities_url: string | null;
}

/** What an application asks the user to allow. */
export interface AuthorizationRequest {
  application: { id: string; name: string };
  /** Whether the user has allowed all of it before. */
  authorized: boolean;
  scopes: readonly string[];
}

/** The parameters of an authorization request of an Activity. */
export type AuthorizationQuery = Readonly<Record<string, string | undefined>>;

/** What an access token stands for. */
export interface TokenInformation {
  application: { id: string; name: string; icon: string | null; description: string };
  scopes: readonly string[];
  expires: string;
  user?: APIUser;
}

export function getShelf(api: ApiClient, guildId: string | null): Promise<ActivityShelf> {
  return api.request("GET", "/activities/shelf", { query: { guild_id: guildId ?? undefined } });
}

export function launchActivity(
  api: ApiClient,
  channelId: string,
  applicationId: string,
  sessionId: string,
): Promise<void> {
  return api.request("POST", `/activities/${channelId}/${applicationId}`, {
    body: { session_id: sessionId },
  });
}

export function leaveActivity(
  api: ApiClient,
  instance: { application_id: string; instance_id: string; location: { id: string } },
  sessionId: string,
): Promise<void> {
  const path = `/applications/${instance.application_id}/activities/${instance.location.id}/instances/${instance.instance_id}/leave`;
  return api.request("POST", path, { body: { session_id: sessionId } });
}

/** A ticket by which the proxy of Activities tells an Activity's own server who the user is. */
export async function createProxyTicket(
  api: ApiClient,
  applicationId: string,
  channelId: string,
): Promise<string> {
  const body = { channel_id: channelId };
  return (
    await api.request<{ ticket: string }>("POST", `/applications/${applicationId}/proxy-tickets`, { body })
  ).ticket;
}

/** A link into an Activity that shows a title, a description and an image. */
export interface QuickLink {
  application_id: string;
  link_id: string;
  /** The hash of the image. */
  asset_path: string;
  title: string;
  description: string;
  custom_id: string | null;
}

export function getQuickLink(api: ApiClient, applicationId: string, linkId: string): Promise<QuickLink> {
  return api.request("GET", `/applications/${applicationId}/quick-links/${encodeURIComponent(linkId)}`);
}

/** An SKU that an application offers. */
export interface Sku {
  id: string;
  name: string;
  type: number;
  application_id: string;
  flags: number;
  release_date: string | null;
}

/** The SKUs of an application that are available. */
export async function getAvailableSkus(api: ApiClient, applicationId: string): Promise<Sku[]> {
  const query = { application_id: applicationId };
  const listings = await api.request<{ sku: Sku }[]>("GET", "/store/published-listings/skus", { query });
  return listings.map(({ sku }) => sku);
}

/** Upload an image for an Activity, which is kept for a day; returns its URL. */
export async function uploadActivityImage(
  api: ApiClient,
  applicationId: string,
  file: File,
): Promise<string> {
  const path = `/applications/${applicationId}/attachment`;
  return (await api.request<{ attachment: { url: string } }>("POST", path, { form: { file } })).attachment
    .url;
}

export function getAuthorizationRequest(
  api: ApiClient,
  query: AuthorizationQuery,
): Promise<AuthorizationRequest> {
  return api.request("GET", "/oauth2/authorize", { query });
}

/** Answer an authorization request; returns the URL with the code or the error. */
export async function authorize(
  api: ApiClient,
  query: AuthorizationQuery,
  allowed: boolean,
): Promise<string> {
  const body = { authorize: allowed };
  return (await api.request<{ location: string }>("POST", "/oauth2/authorize", { query, body })).location;
}

export function getTokenInformation(accessToken: string): Promise<TokenInformation> {
  return new ApiClient(`Bearer ${accessToken}`).request("GET", "/oauth2/@me");
}
