import type { APIGuildMember, APIReaction, APIUser } from "discord-api-types/v10";

import type { ApiClient } from "./client";
import { ApiError } from "./errors";

export function getUser(api: ApiClient, userId: string, signal?: AbortSignal): Promise<APIUser> {
  return api.request("GET", `/users/${userId}`, { ...(signal && { signal }) });
}

/** A user with what they share with the caller. */
export interface UserProfile {
  user: APIUser & { bio?: string };
  /** With the nickname that the user has in each. */
  mutual_guilds?: { id: string; nick: string | null }[];
  mutual_friends?: APIUser[];
}

/** The profile of a user; of those who have nothing to do with the caller, the user alone. */
export async function getProfile(api: ApiClient, userId: string, signal?: AbortSignal): Promise<UserProfile> {
  try {
    return await api.request<UserProfile>("GET", `/users/${userId}/profile`, {
      query: { with_mutual_guilds: "true", with_mutual_friends: "true" },
      ...(signal && { signal }),
    });
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) {
      return { user: await getUser(api, userId, signal) };
    }
    throw error;
  }
}

export function getMember(
  api: ApiClient,
  guildId: string,
  userId: string,
  signal?: AbortSignal,
): Promise<APIGuildMember> {
  return api.request("GET", `/guilds/${guildId}/members/${userId}`, { ...(signal && { signal }) });
}

/** Write the caller's note about a user; empty for none. */
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
