import type {
  APIMessage,
  RESTPatchAPIChannelMessageJSONBody,
  RESTPostAPIChannelMessageJSONBody,
} from "discord-api-types/v10";

import type { ApiClient, RequestOptions } from "./client";

export interface PageQuery {
  before?: string;
  after?: string;
  around?: string;
  limit?: number;
}

/** A page of a channel's messages, newest first. */
export function getMessages(
  api: ApiClient,
  channelId: string,
  page: PageQuery,
  signal?: AbortSignal,
): Promise<APIMessage[]> {
  return api.request("GET", `/channels/${channelId}/messages`, {
    query: { ...page },
    ...(signal && { signal }),
  });
}

/** Send a message. With a nonce and `enforce_nonce` a repeated request sends it once. */
export function createMessage(
  api: ApiClient,
  channelId: string,
  body: RESTPostAPIChannelMessageJSONBody,
  options: Pick<RequestOptions, "files" | "onProgress" | "signal"> = {},
): Promise<APIMessage> {
  return api.request("POST", `/channels/${channelId}/messages`, { ...options, body });
}

export function editMessage(
  api: ApiClient,
  channelId: string,
  messageId: string,
  body: RESTPatchAPIChannelMessageJSONBody,
): Promise<APIMessage> {
  return api.request("PATCH", `/channels/${channelId}/messages/${messageId}`, { body });
}

export function deleteMessage(api: ApiClient, channelId: string, messageId: string): Promise<void> {
  return api.request("DELETE", `/channels/${channelId}/messages/${messageId}`);
}

/** Delete 2 to 100 messages of a guild's channel at once, none older than 14 days. */
export function bulkDeleteMessages(
  api: ApiClient,
  channelId: string,
  messageIds: readonly string[],
): Promise<void> {
  return api.request("POST", `/channels/${channelId}/messages/bulk-delete`, {
    body: { messages: messageIds },
  });
}

/** Publish a message of an announcement channel to the channels that follow it. */
export function crosspostMessage(api: ApiClient, channelId: string, messageId: string): Promise<APIMessage> {
  return api.request("POST", `/channels/${channelId}/messages/${messageId}/crosspost`);
}

/** Add or remove the caller's reaction. `emoji` is a Unicode emoji, or `name:id`. */
export function setReaction(
  api: ApiClient,
  channelId: string,
  messageId: string,
  emoji: string,
  reacts: boolean,
): Promise<void> {
  const path = `/channels/${channelId}/messages/${messageId}/reactions/${encodeURIComponent(emoji)}/@me`;
  return api.request(reacts ? "PUT" : "DELETE", path);
}

export function setPinned(
  api: ApiClient,
  channelId: string,
  messageId: string,
  pinned: boolean,
): Promise<void> {
  return api.request(pinned ? "PUT" : "DELETE", `/channels/${channelId}/messages/pins/${messageId}`);
}

export interface PinnedMessages {
  items: { pinned_at: string; message: APIMessage }[];
  has_more: boolean;
}

export function getPins(api: ApiClient, channelId: string): Promise<PinnedMessages> {
  return api.request("GET", `/channels/${channelId}/messages/pins`);
}

export function triggerTyping(api: ApiClient, channelId: string): Promise<void> {
  return api.request("POST", `/channels/${channelId}/typing`);
}

/** Mark a channel as read up to a message. */
export function acknowledgeMessage(api: ApiClient, channelId: string, messageId: string): Promise<unknown> {
  return api.request("POST", `/channels/${channelId}/messages/${messageId}/ack`, { body: { token: null } });
}

/** Vote in a poll; an empty list takes the vote back. */
export function vote(
  api: ApiClient,
  channelId: string,
  messageId: string,
  answerIds: readonly number[],
): Promise<void> {
  return api.request("PUT", `/channels/${channelId}/polls/${messageId}/answers/@me`, {
    body: { answer_ids: answerIds.map(String) },
  });
}
