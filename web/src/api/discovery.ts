import type { APIGuild } from "discord-api-types/v10";

import type { ApiClient } from "./client";

/** A guild that anyone may find and join. */
export interface DiscoverableGuild {
  id: string;
  name: string;
  icon: string | null;
  banner: string | null;
  discovery_splash: string | null;
  description: string | null;
  keywords: string[];
  primary_category_id: number;
  approximate_member_count: number;
  approximate_presence_count: number;
}

export interface DiscoverableGuilds {
  guilds: DiscoverableGuild[];
  total: number;
}

interface Filter {
  query?: string;
  /** The id of a category. */
  category?: number | null;
  guildIds?: readonly string[];
  limit?: number;
  offset?: number;
}

export function listDiscoverableGuilds(api: ApiClient, filter: Filter): Promise<DiscoverableGuilds> {
  const { query, category, guildIds, limit, offset } = filter;
  return api.request("GET", "/discoverable-guilds", {
    query: {
      query: query === "" ? undefined : query,
      categories: category ?? undefined,
      guild_ids: guildIds,
      limit,
      offset,
    },
  });
}

/** Join a discoverable guild. */
export function joinDiscoverableGuild(api: ApiClient, guildId: string): Promise<APIGuild> {
  return api.request("PUT", `/guilds/${guildId}/members/@me`);
}

/** What a guild is listed by. */
export interface DiscoveryMetadata {
  primary_category_id: number;
  keywords: string[];
  is_published: boolean;
}

export function getDiscoveryMetadata(api: ApiClient, guildId: string): Promise<DiscoveryMetadata> {
  return api.request("GET", `/guilds/${guildId}/discovery-metadata`);
}

export function modifyDiscoveryMetadata(
  api: ApiClient,
  guildId: string,
  body: Partial<Omit<DiscoveryMetadata, "is_published">>,
): Promise<DiscoveryMetadata> {
  return api.request("PATCH", `/guilds/${guildId}/discovery-metadata`, { body });
}
