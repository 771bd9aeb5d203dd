import type {
  APIMessage,
  APIReaction,
  APIUser,
  RESTPatchAPIChannelMessageJSONBody,
  RESTPostAPIChannelMessageJSONBody,
} from "discord-api-types/v10";

import type { ApiClient, RequestOptions } from "./client";
import { MessageFlag } from "./enums";

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

/** Hide the previews and embeds of a message, or show them again. */
export function setEmbedsShown(
  api: ApiClient,
  message: Pick<APIMessage, "channel_id" | "id" | "flags">,
  isShown: boolean,
): Promise<APIMessage> {
  const { channel_id: channelId, id } = message;
  const flags: number = message.flags ?? 0;
  return api.request("PATCH", `/channels/${channelId}/messages/${id}`, {
    body: { flags: isShown ? flags & ~MessageFlag.SuppressEmbeds : flags | MessageFlag.SuppressEmbeds },
  });
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

/** Remove every reaction of a message, or those with one emoji. */
export function clearReactions(
  api: ApiClient,
  channelId: string,
  messageId: string,
  emoji?: APIReaction["emoji"],
): Promise<void> {
  const path = `/channels/${channelId}/messages/${messageId}/reactions`;
  const name = emoji?.id ? `${emoji.name ?? "_"}:${emoji.id}` : emoji?.name;
  return api.request("DELETE", name ? `${path}/${encodeURIComponent(name)}` : path);
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

/** A page of the pinned messages of a channel: the newest pins, or those pinned before a time (ISO 8601). */
export function getPins(
  api: ApiClient,
  channelId: string,
  before: string | undefined,
): Promise<PinnedMessages> {
  return api.request("GET", `/channels/${channelId}/messages/pins`, { query: { before } });
}

export function triggerTyping(api: ApiClient, channelId: string): Promise<void> {
  return api.request("POST", `/channels/${channelId}/typing`);
}

/** Mark a channel as read up to a message. */
export function acknowledgeMessage(api: ApiClient, channelId: string, messageId: string): Promise<unknown> {
  return api.request("POST", `/channels/${channelId}/messages/${messageId}/ack`, { body: { token: null } });
}

/** Mark the messages after one as not read. */
export function markUnread(
  api: ApiClient,
  channelId: string,
  messageId: string,
  mentions: number,
): Promise<unknown> {
  return api.request("POST", `/channels/${channelId}/messages/${messageId}/ack`, {
    body: { token: null, manual: true, mention_count: mentions },
  });
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

/** The users who voted for an answer of a poll, by ascending id. */
export async function getVoters(
  api: ApiClient,
  channelId: string,
  messageId: string,
  answerId: number,
  query: { after: string | undefined; limit: number },
  signal?: AbortSignal,
): Promise<APIUser[]> {
  const path = `/channels/${channelId}/polls/${messageId}/answers/${answerId}`;
  const page = await api.request<{ users: APIUser[] }>("GET", path, { query, ...(signal && { signal }) });
  return page.users;
}

/** End the caller's own poll now. */
export function endPoll(api: ApiClient, channelId: string, messageId: string): Promise<APIMessage> {
  return api.request("POST", `/channels/${channelId}/polls/${messageId}/expire`);
}
