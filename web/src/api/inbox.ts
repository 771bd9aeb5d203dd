import type { APIMessage } from "discord-api-types/v10";

import type { ApiClient } from "./client";

/** A message that the user has saved; null once it is deleted, or out of reach. */
export interface SavedMessage {
  message: APIMessage | null;
  save_data: { channel_id: string; message_id: string };
}

/** The messages of the last week that mention the user, newest first, older than `before`. */
export function getMentions(api: ApiClient, limit: number, before?: string): Promise<APIMessage[]> {
  return api.request("GET", "/users/@me/mentions", { query: { limit, before } });
}

/** Take a message out of the list of mentions. */
export function dismissMention(api: ApiClient, messageId: string): Promise<void> {
  return api.request("DELETE", `/users/@me/mentions/${messageId}`);
}

/** The saved messages, those saved last first. */
export async function getSavedMessages(api: ApiClient): Promise<readonly SavedMessage[]> {
  const { results } = await api.request<{ results: SavedMessage[] }>("GET", "/users/@me/saved-messages");
  return results;
}

export function saveMessage(api: ApiClient, channelId: string, messageId: string): Promise<SavedMessage> {
  return api.request("PUT", `/users/@me/saved-messages/${channelId}/${messageId}`, { body: {} });
}

export function unsaveMessage(api: ApiClient, channelId: string, messageId: string): Promise<void> {
  return api.request("DELETE", `/users/@me/saved-messages/${channelId}/${messageId}`);
}

/** Mark many channels as read at once: each up to a message. */
export function acknowledgeChannels(
  api: ApiClient,
  channels: readonly { channelId: string; messageId: string }[],
): Promise<void> {
  const read_states = channels.map(({ channelId, messageId }) => ({
    channel_id: channelId,
    message_id: messageId,
    read_state_type: 0,
  }));
  return api.request("POST", "/read-states/ack-bulk", { body: { read_states } });
}
