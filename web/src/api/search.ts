import type { APIMessage } from "discord-api-types/v10";

import type { ApiClient } from "./client";

export type SearchQuery = Readonly<Record<string, string | number | boolean | undefined>>;

export interface SearchPage {
  total_results: number;
  /** Lists of one message each. */
  messages: APIMessage[][];
}

/** While the messages from before the index are being indexed, the server answers with this instead. */
interface NotReady {
  code: number;
  retry_after: number;
}

/** What is searched: all channels of a guild, or one direct message or group. */
export type SearchScope = { guildId: string } | { guildId: null; channelId: string };

/** Search the messages of a guild or a direct message; null while they are still being indexed. */
export async function searchMessages(
  api: ApiClient,
  scope: SearchScope,
  query: SearchQuery,
  signal?: AbortSignal,
): Promise<SearchPage | null> {
  const owner = scope.guildId === null ? `/channels/${scope.channelId}` : `/guilds/${scope.guildId}`;
  const response = await api.request<SearchPage | NotReady>("GET", `${owner}/messages/search`, {
    query,
    ...(signal && { signal }),
  });
  return "messages" in response ? response : null;
}
