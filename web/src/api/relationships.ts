import type { APIChannel } from "discord-api-types/v10";

import type { ApiClient } from "./client";

/** Send a friend request by username, or accept the user's own. */
export function sendFriendRequest(api: ApiClient, username: string): Promise<void> {
  return api.request("POST", "/users/@me/relationships", { body: { username } });
}

/** Send a friend request by id, or accept the user's own. */
export function befriend(api: ApiClient, userId: string): Promise<void> {
  return api.request("PUT", `/users/@me/relationships/${userId}`, { body: {} });
}

export function blockUser(api: ApiClient, userId: string): Promise<void> {
  return api.request("PUT", `/users/@me/relationships/${userId}`, { body: { type: 2 } });
}

/** End a friendship, withdraw or refuse a request, or unblock a user. */
export function removeRelationship(api: ApiClient, userId: string): Promise<void> {
  return api.request("DELETE", `/users/@me/relationships/${userId}`);
}

/** Name a friend as only the user sees it; null removes the name. */
export function setNickname(api: ApiClient, userId: string, nickname: string | null): Promise<void> {
  return api.request("PATCH", `/users/@me/relationships/${userId}`, { body: { nickname } });
}

/** Write a note about a user, which only the user sees; an empty one removes it. */
export function setNote(api: ApiClient, userId: string, note: string): Promise<void> {
  return api.request("PUT", `/users/@me/notes/${userId}`, { body: { note } });
}

/** Create a group direct message with several users. */
export function createGroup(api: ApiClient, recipients: readonly string[]): Promise<APIChannel> {
  return api.request("POST", "/users/@me/channels", { body: { recipients } });
}

/** Add a user to a group; from a direct message this makes a group, which is returned. */
export function addRecipient(
  api: ApiClient,
  channelId: string,
  userId: string,
): Promise<APIChannel | undefined> {
  return api.request("PUT", `/channels/${channelId}/recipients/${userId}`, { body: {} });
}

export function removeRecipient(api: ApiClient, channelId: string, userId: string): Promise<void> {
  return api.request("DELETE", `/channels/${channelId}/recipients/${userId}`);
}

/** `icon` is a data URL, or null for none. */
export function modifyGroup(
  api: ApiClient,
  channelId: string,
  changes: { name?: string | null; icon?: string | null; owner?: string },
): Promise<APIChannel> {
  return api.request("PATCH", `/channels/${channelId}`, { body: changes });
}

/** Close a direct message, or leave a group. */
export function closeDirectMessage(api: ApiClient, channelId: string): Promise<APIChannel> {
  return api.request("DELETE", `/channels/${channelId}`);
}
