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

/** Search the messages of a guild; null while they are still being indexed. */
export async function searchGuildMessages(
  api: ApiClient,
  guildId: string,
  query: SearchQuery,
  signal?: AbortSignal,
): Promise<SearchPage | null> {
  const response = await api.request<SearchPage | NotReady>("GET", `/guilds/${guildId}/messages/search`, {
    query,
    ...(signal && { signal }),
  });
  return "messages" in response ? response : null;
}
