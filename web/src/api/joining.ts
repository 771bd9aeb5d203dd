import type { APIGuild, APIGuildWelcomeScreen, APITemplate } from "discord-api-types/v10";

import type { ApiClient } from "./client";

export function getTemplate(api: ApiClient, code: string): Promise<APITemplate> {
  return api.request("GET", `/guilds/templates/${encodeURIComponent(code)}`);
}

/** Create a guild with the roles, channels and settings of a template. `icon` is a data URL. */
export function createGuildFromTemplate(
  api: ApiClient,
  code: string,
  body: { name: string; icon?: string },
): Promise<APIGuild> {
  return api.request("POST", `/guilds/templates/${encodeURIComponent(code)}`, { body });
}

export function getWelcomeScreen(api: ApiClient, guildId: string): Promise<APIGuildWelcomeScreen> {
  return api.request("GET", `/guilds/${guildId}/welcome-screen`);
}

/** A field of the form that new members fill in. */
export interface ScreeningField {
  field_type: "TERMS" | "TEXT_INPUT" | "PARAGRAPH" | "MULTIPLE_CHOICE";
  label: string;
  description: string | null;
  /** The rules of TERMS. */
  values?: string[];
  choices?: string[];
  placeholder?: string | null;
  required: boolean;
}

export interface ScreeningForm {
  version: string;
  description: string | null;
  form_fields: ScreeningField[];
}

/** What a new member has answered, and what moderators decided. */
export interface JoinRequest {
  id: string;
  guild_id: string;
  application_status: "STARTED" | "SUBMITTED" | "REJECTED" | "APPROVED";
  rejection_reason: string | null;
}

export function getScreeningForm(api: ApiClient, guildId: string): Promise<ScreeningForm> {
  return api.request("GET", `/guilds/${guildId}/member-verification`);
}

/** The responses are in the order of the fields: true for agreed rules, a text, or the number of a choice. */
export function submitScreeningForm(
  api: ApiClient,
  guildId: string,
  form: ScreeningForm,
  responses: readonly unknown[],
): Promise<JoinRequest> {
  const fields = form.form_fields.map((field, index) => ({ ...field, response: responses[index] }));
  return api.request("PUT", `/guilds/${guildId}/requests/@me`, {
    body: { version: form.version, form_fields: fields },
  });
}

export function getOwnJoinRequest(api: ApiClient, guildId: string): Promise<JoinRequest> {
  return api.request("GET", `/guilds/${guildId}/requests/@me`);
}

export function withdrawJoinRequest(api: ApiClient, guildId: string): Promise<void> {
  return api.request("DELETE", `/guilds/${guildId}/requests/@me`);
}

export interface OnboardingOption {
  id: string;
  title: string;
  description: string;
  emoji: { id: string | null; name: string | null };
  role_ids: string[];
  channel_ids: string[];
}

export interface OnboardingPrompt {
  id: string;
  title: string;
  options: OnboardingOption[];
  single_select: boolean;
  required: boolean;
  /** False for questions that only the list of channels and roles has. */
  in_onboarding: boolean;
  /** 1 for a dropdown. */
  type: number;
}

export interface Onboarding {
  guild_id: string;
  enabled: boolean;
  prompts: OnboardingPrompt[];
  default_channel_ids: string[];
  /** The ids of the options that the user has chosen; absent before the first answer. */
  responses?: string[];
}

export function getOnboarding(api: ApiClient, guildId: string): Promise<Onboarding> {
  return api.request("GET", `/guilds/${guildId}/onboarding`);
}

/** Answer the questions; with `replace` the answers take the place of all earlier ones. */
export function submitOnboarding(
  api: ApiClient,
  guildId: string,
  optionIds: readonly string[],
  prompts: readonly OnboardingPrompt[],
  replace: boolean,
): Promise<{ onboarding_responses: string[]; channel_ids: string[] }> {
  const now = Date.now();
  return api.request(replace ? "PUT" : "POST", `/guilds/${guildId}/onboarding-responses`, {
    body: {
      onboarding_responses: optionIds,
      onboarding_prompts_seen: Object.fromEntries(prompts.map((prompt) => [prompt.id, now])),
      onboarding_responses_seen: Object.fromEntries(
        prompts.flatMap((prompt) => prompt.options.map((option) => [option.id, now])),
      ),
    },
  });
}

/** Mark all channels of a guild as read. */
export function acknowledgeGuild(api: ApiClient, guildId: string): Promise<void> {
  return api.request("POST", `/guilds/${guildId}/ack`);
}
