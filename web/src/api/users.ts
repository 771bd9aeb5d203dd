import type { APIGuildMember, APIReaction, APIUser } from "discord-api-types/v10";

import type { ApiClient } from "./client";
import { ApiError } from "./errors";

export function getUser(api: ApiClient, userId: string, signal?: AbortSignal): Promise<APIUser> {
  return api.request("GET", `/users/${userId}`, { ...(signal && { signal }) });
}

export function getMember(
  api: ApiClient,
  guildId: string,
  userId: string,
  signal?: AbortSignal,
): Promise<APIGuildMember> {
  return api.request("GET", `/guilds/${guildId}/members/${userId}`, { ...(signal && { signal }) });
}

/** The caller's note about a user; empty for none. */
export async function getNote(api: ApiClient, userId: string, signal?: AbortSignal): Promise<string> {
  try {
    const { note } = await api.request<{ note: string }>("GET", `/users/@me/notes/${userId}`, {
      ...(signal && { signal }),
    });
    return note;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) {
      return "";
    }
    throw error;
  }
}

export function setNote(api: ApiClient, userId: string, note: string): Promise<void> {
  return api.request("PUT", `/users/@me/notes/${userId}`, { body: { note } });
}

/** A page of the users who reacted with an emoji, by ascending id. */
export function getReactors(
  api: ApiClient,
  channelId: string,
  messageId: string,
  emoji: APIReaction["emoji"],
  after: string | undefined,
  limit: number,
  signal?: AbortSignal,
): Promise<APIUser[]> {
  const name = emoji.id ? `${emoji.name ?? "_"}:${emoji.id}` : (emoji.name ?? "");
  return api.request(
    "GET",
    `/channels/${channelId}/messages/${messageId}/reactions/${encodeURIComponent(name)}`,
    {
      query: { limit, after },
      ...(signal && { signal }),
    },
  );
}
