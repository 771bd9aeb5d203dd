import type {
  APIMessage,
  APIThreadChannel,
  APIThreadList,
  APIThreadMember,
  RESTPostAPIChannelMessageJSONBody,
} from "discord-api-types/v10";

import type { ApiClient } from "./client";

/** A page of threads; `members` are the user's own memberships. */
export type ThreadPage = APIThreadList & { has_more?: boolean };

export interface ThreadSettings {
  name: string;
  /** In minutes. */
  auto_archive_duration?: number;
  /** In seconds. */
  rate_limit_per_user?: number;
}

/** Start a thread from a message, whose id it gets. */
export function startThreadFromMessage(
  api: ApiClient,
  channelId: string,
  messageId: string,
  settings: ThreadSettings,
): Promise<APIThreadChannel> {
  return api.request("POST", `/channels/${channelId}/messages/${messageId}/threads`, { body: settings });
}

export function startThread(
  api: ApiClient,
  channelId: string,
  settings: ThreadSettings & { type: number; invitable?: boolean },
): Promise<APIThreadChannel> {
  return api.request("POST", `/channels/${channelId}/threads`, { body: settings });
}

/** Start a thread of a forum or media channel with its first message. */
export function startPost(
  api: ApiClient,
  channelId: string,
  post: ThreadSettings & { applied_tags: readonly string[]; message: RESTPostAPIChannelMessageJSONBody },
  files: readonly File[],
  onProgress?: (share: number) => void,
): Promise<APIThreadChannel & { message: APIMessage }> {
  return api.request("POST", `/channels/${channelId}/threads`, {
    body: post,
    ...(files.length > 0 && { files }),
    ...(onProgress && { onProgress }),
  });
}

export function joinThread(api: ApiClient, threadId: string): Promise<void> {
  return api.request("PUT", `/channels/${threadId}/thread-members/@me`);
}

export function leaveThread(api: ApiClient, threadId: string): Promise<void> {
  return api.request("DELETE", `/channels/${threadId}/thread-members/@me`);
}

/** Change the user's own notification settings of a thread. */
export function modifyThreadSettings(api: ApiClient, threadId: string, changes: object): Promise<void> {
  return api.request("PATCH", `/channels/${threadId}/thread-members/@me/settings`, { body: changes });
}

export function addThreadMember(api: ApiClient, threadId: string, userId: string): Promise<void> {
  return api.request("PUT", `/channels/${threadId}/thread-members/${userId}`);
}

export function removeThreadMember(api: ApiClient, threadId: string, userId: string): Promise<void> {
  return api.request("DELETE", `/channels/${threadId}/thread-members/${userId}`);
}

/** A page of a thread's members by user id, with their guild members. */
export function getThreadMembers(api: ApiClient, threadId: string): Promise<APIThreadMember[]> {
  return api.request("GET", `/channels/${threadId}/thread-members`, {
    query: { with_member: true, limit: 100 },
  });
}

/** Which archived threads: private ones of others only with the permission to manage threads. */
export type ArchivedKind = "public" | "private" | "joined";

const ARCHIVED_PATHS: Record<ArchivedKind, string> = {
  public: "threads/archived/public",
  private: "threads/archived/private",
  joined: "users/@me/threads/archived/private",
};

/** A page of archived threads: before a moment, or before a thread's id for the joined ones. */
export function getArchivedThreads(
  api: ApiClient,
  channelId: string,
  kind: ArchivedKind,
  before: string | undefined,
): Promise<ThreadPage> {
  return api.request("GET", `/channels/${channelId}/${ARCHIVED_PATHS[kind]}`, {
    query: { before, limit: 50 },
  });
}

export interface ThreadSearch {
  name?: string;
  tags: readonly string[];
  matchAll: boolean;
  sortBy: "last_message_time" | "creation_time";
  offset: number;
}

export type ThreadSearchPage = ThreadPage & { total_results: number; first_messages?: APIMessage[] };

/** A page of the public threads of a channel, archived ones as well, with their first messages. */
export function searchThreads(
  api: ApiClient,
  channelId: string,
  search: ThreadSearch,
): Promise<ThreadSearchPage> {
  return api.request("GET", `/channels/${channelId}/threads/search`, {
    query: {
      name: search.name,
      sort_by: search.sortBy,
      sort_order: "desc",
      offset: search.offset,
      limit: 25,
      ...(search.tags.length > 0 && {
        tag: search.tags,
        tag_setting: search.matchAll ? "match_all" : "match_some",
      }),
    },
  });
}
