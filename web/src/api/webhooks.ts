import type { APIWebhook } from "discord-api-types/v10";

import type { ApiClient } from "./client";

export interface WebhookChanges {
  name?: string;
  /** A data URI; null removes the picture. */
  avatar?: string | null;
  channel_id?: string | null;
}

export function listGuildWebhooks(api: ApiClient, guildId: string): Promise<APIWebhook[]> {
  return api.request("GET", `/guilds/${guildId}/webhooks`);
}

export function listChannelWebhooks(api: ApiClient, channelId: string): Promise<APIWebhook[]> {
  return api.request("GET", `/channels/${channelId}/webhooks`);
}

export function createWebhook(api: ApiClient, channelId: string, name: string): Promise<APIWebhook> {
  return api.request("POST", `/channels/${channelId}/webhooks`, { body: { name } });
}

export function modifyWebhook(
  api: ApiClient,
  webhookId: string,
  changes: WebhookChanges,
): Promise<APIWebhook> {
  return api.request("PATCH", `/webhooks/${webhookId}`, { body: changes });
}

export function deleteWebhook(api: ApiClient, webhookId: string): Promise<void> {
  return api.request("DELETE", `/webhooks/${webhookId}`);
}

/** Send a message as a webhook. */
export function executeWebhook(
  api: ApiClient,
  webhook: { id: string; token: string },
  content: string,
): Promise<unknown> {
  return api.request("POST", `/webhooks/${webhook.id}/${webhook.token}`, {
    body: { content },
    query: { wait: true },
  });
}
