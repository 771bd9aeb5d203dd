import type { APIGuildMember } from "discord-api-types/v10";

import type { ApiClient } from "./client";

const MAX_RESULTS = 25;

/** Members of a guild whose username or nickname begins with a text. */
export function searchMembers(
  api: ApiClient,
  guildId: string,
  query: string,
  signal?: AbortSignal,
): Promise<APIGuildMember[]> {
  return api.request("GET", `/guilds/${guildId}/members/search`, {
    query: { query, limit: MAX_RESULTS },
    ...(signal && { signal }),
  });
}
