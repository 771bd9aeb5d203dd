import type {
  APIExtendedInvite,
  APIGuild,
  APIGuildIntegration,
  APIGuildOnboarding,
  APIGuildWelcomeScreen,
  APIGuildWidget,
  APIGuildWidgetSettings,
  APITemplate,
  APIUser,
  RESTPatchAPIGuildJSONBody,
  RESTPatchAPIGuildWelcomeScreenJSONBody,
  RESTPutAPIGuildOnboardingJSONBody,
} from "discord-api-types/v10";

import type { ApiClient } from "./client";

export function getGuild(api: ApiClient, guildId: string): Promise<APIGuild> {
  return api.request("GET", `/guilds/${guildId}`);
}

export function modifyGuild(
  api: ApiClient,
  guildId: string,
  changes: Partial<Record<keyof RESTPatchAPIGuildJSONBody, unknown>>,
): Promise<APIGuild> {
  return api.request("PATCH", `/guilds/${guildId}`, { body: changes });
}

/** Set whether moderators need two-factor authentication: 1 or 0. */
export function modifyMfaLevel(api: ApiClient, guildId: string, level: 0 | 1): Promise<{ level: 0 | 1 }> {
  return api.request("POST", `/guilds/${guildId}/mfa`, { body: { level } });
}

export function deleteGuild(api: ApiClient, guildId: string): Promise<void> {
  return api.request("DELETE", `/guilds/${guildId}`);
}

export interface VoiceRegion {
  id: string;
  name: string;
}

export function listVoiceRegions(api: ApiClient, guildId: string): Promise<VoiceRegion[]> {
  return api.request("GET", `/guilds/${guildId}/regions`);
}

/** Live invites, with their uses for members who may manage the guild. */
export function listGuildInvites(api: ApiClient, guildId: string): Promise<APIExtendedInvite[]> {
  return api.request("GET", `/guilds/${guildId}/invites`);
}

export function deleteInvite(api: ApiClient, code: string): Promise<unknown> {
  return api.request("DELETE", `/invites/${encodeURIComponent(code)}`);
}

export function listIntegrations(api: ApiClient, guildId: string): Promise<APIGuildIntegration[]> {
  return api.request("GET", `/guilds/${guildId}/integrations`);
}

export function deleteIntegration(api: ApiClient, guildId: string, integrationId: string): Promise<void> {
  return api.request("DELETE", `/guilds/${guildId}/integrations/${integrationId}`);
}

export function getWidgetSettings(api: ApiClient, guildId: string): Promise<APIGuildWidgetSettings> {
  return api.request("GET", `/guilds/${guildId}/widget`);
}

export function modifyWidget(
  api: ApiClient,
  guildId: string,
  settings: APIGuildWidgetSettings,
): Promise<APIGuildWidgetSettings> {
  return api.request("PATCH", `/guilds/${guildId}/widget`, { body: settings });
}

export function getWidget(api: ApiClient, guildId: string): Promise<APIGuildWidget> {
  return api.request("GET", `/guilds/${guildId}/widget.json`);
}

export const WIDGET_STYLES = ["shield", "banner1", "banner2", "banner3", "banner4"] as const;
export type WidgetStyle = (typeof WIDGET_STYLES)[number];

export function widgetImageUrl(guildId: string, style: WidgetStyle): string {
  return `/api/v10/guilds/${guildId}/widget.png?style=${style}`;
}

export interface VanityUrl {
  code: string | null;
  uses: number;
}

export function getVanityUrl(api: ApiClient, guildId: string): Promise<VanityUrl> {
  return api.request("GET", `/guilds/${guildId}/vanity-url`);
}

export function modifyVanityUrl(api: ApiClient, guildId: string, code: string | null): Promise<VanityUrl> {
  return api.request("PATCH", `/guilds/${guildId}/vanity-url`, { body: { code } });
}

export function getWelcomeScreen(api: ApiClient, guildId: string): Promise<APIGuildWelcomeScreen> {
  return api.request("GET", `/guilds/${guildId}/welcome-screen`);
}

export function modifyWelcomeScreen(
  api: ApiClient,
  guildId: string,
  changes: RESTPatchAPIGuildWelcomeScreenJSONBody,
): Promise<APIGuildWelcomeScreen> {
  return api.request("PATCH", `/guilds/${guildId}/welcome-screen`, { body: changes });
}

export function getOnboarding(api: ApiClient, guildId: string): Promise<APIGuildOnboarding> {
  return api.request("GET", `/guilds/${guildId}/onboarding`);
}

export function modifyOnboarding(
  api: ApiClient,
  guildId: string,
  changes: Partial<Record<keyof RESTPutAPIGuildOnboardingJSONBody, unknown>>,
): Promise<APIGuildOnboarding> {
  return api.request("PUT", `/guilds/${guildId}/onboarding`, { body: changes });
}

export type ScreeningFieldType = "TERMS" | "TEXT_INPUT" | "PARAGRAPH" | "MULTIPLE_CHOICE";

/** A field of the screening form: rules to agree to, or a question. */
export interface ScreeningField {
  field_type: ScreeningFieldType;
  label: string;
  description?: string | null;
  /** The rules of TERMS. */
  values?: string[];
  /** The choices of MULTIPLE_CHOICE. */
  choices?: string[];
  placeholder?: string | null;
  required: boolean;
}

export interface ScreeningForm {
  version: string;
  description: string | null;
  form_fields: ScreeningField[];
}

export function getScreening(api: ApiClient, guildId: string): Promise<ScreeningForm> {
  return api.request("GET", `/guilds/${guildId}/member-verification`);
}

export function modifyScreening(
  api: ApiClient,
  guildId: string,
  changes: { enabled?: boolean; description?: string | null; form_fields?: readonly ScreeningField[] },
): Promise<ScreeningForm> {
  return api.request("PATCH", `/guilds/${guildId}/member-verification`, { body: changes });
}

export type JoinRequestStatus = "SUBMITTED" | "REJECTED" | "APPROVED";

export interface JoinRequest {
  id: string;
  user_id: string;
  created_at: string;
  application_status: JoinRequestStatus;
  rejection_reason: string | null;
  user?: APIUser | null;
  form_responses?: (ScreeningField & { response?: unknown })[];
}

export async function listJoinRequests(
  api: ApiClient,
  guildId: string,
  status: JoinRequestStatus,
): Promise<JoinRequest[]> {
  const { guild_join_requests } = await api.request<{ guild_join_requests: JoinRequest[] }>(
    "GET",
    `/guilds/${guildId}/requests`,
    { query: { status, limit: 100 } },
  );
  return guild_join_requests;
}

export function reviewJoinRequest(
  api: ApiClient,
  guildId: string,
  requestId: string,
  action: "APPROVED" | "REJECTED",
  reason: string,
): Promise<JoinRequest> {
  return api.request("PATCH", `/guilds/${guildId}/requests/${requestId}`, {
    body: { action, ...(reason !== "" && { rejection_reason: reason }) },
  });
}

export function listTemplates(api: ApiClient, guildId: string): Promise<APITemplate[]> {
  return api.request("GET", `/guilds/${guildId}/templates`);
}

export interface TemplateFields {
  name: string;
  description: string | null;
}

export function createTemplate(
  api: ApiClient,
  guildId: string,
  fields: TemplateFields,
): Promise<APITemplate> {
  return api.request("POST", `/guilds/${guildId}/templates`, { body: fields });
}

export function syncTemplate(api: ApiClient, guildId: string, code: string): Promise<APITemplate> {
  return api.request("PUT", `/guilds/${guildId}/templates/${code}`);
}

export function modifyTemplate(
  api: ApiClient,
  guildId: string,
  code: string,
  fields: TemplateFields,
): Promise<APITemplate> {
  return api.request("PATCH", `/guilds/${guildId}/templates/${code}`, { body: fields });
}

export function deleteTemplate(api: ApiClient, guildId: string, code: string): Promise<unknown> {
  return api.request("DELETE", `/guilds/${guildId}/templates/${code}`);
}
