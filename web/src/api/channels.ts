import type {
  APIChannel,
  APIFollowedChannel,
  APIVoiceRegion,
  RESTPatchAPIGuildChannelPositionsJSONBody,
} from "discord-api-types/v10";

import type { ApiClient } from "./client";

/** A tag of a forum or media channel; a new one has no id. */
export interface ForumTagInput {
  id?: string;
  name: string;
  moderated: boolean;
  emoji_id: string | null;
  emoji_name: string | null;
}

/** The fields of channels and threads that can be changed. */
export interface ChannelChanges {
  name?: string;
  type?: number;
  topic?: string | null;
  nsfw?: boolean;
  parent_id?: string | null;
  /** In seconds. */
  rate_limit_per_user?: number;
  bitrate?: number;
  user_limit?: number;
  rtc_region?: string | null;
  video_quality_mode?: number;
  /** In minutes. */
  default_auto_archive_duration?: number;
  /** In seconds. */
  default_thread_rate_limit_per_user?: number;
  default_reaction_emoji?: { emoji_id: string | null; emoji_name: string | null } | null;
  default_sort_order?: number | null;
  default_forum_layout?: number;
  available_tags?: readonly ForumTagInput[];
  flags?: number;
  permission_overwrites?: readonly { id: string; type: number; allow: string; deny: string }[];
  archived?: boolean;
  locked?: boolean;
  invitable?: boolean;
  /** In minutes. */
  auto_archive_duration?: number;
  applied_tags?: readonly string[];
}

export function getChannel(api: ApiClient, channelId: string): Promise<APIChannel> {
  return api.request("GET", `/channels/${channelId}`);
}

/** Change fields of a channel or thread; absent ones stay. */
export function modifyChannel(api: ApiClient, channelId: string, body: ChannelChanges): Promise<APIChannel> {
  return api.request("PATCH", `/channels/${channelId}`, { body });
}

/** Delete a channel or a thread. */
export function deleteChannel(api: ApiClient, channelId: string): Promise<APIChannel> {
  return api.request("DELETE", `/channels/${channelId}`);
}

export function modifyChannelPositions(
  api: ApiClient,
  guildId: string,
  body: RESTPatchAPIGuildChannelPositionsJSONBody,
): Promise<void> {
  return api.request("PATCH", `/guilds/${guildId}/channels`, { body });
}

/** Set the overwrite of a role (type 0) or a member (type 1); the sets are decimal numbers. */
export function editOverwrite(
  api: ApiClient,
  channelId: string,
  overwrite: { id: string; type: 0 | 1; allow: string; deny: string },
): Promise<void> {
  const { id, ...body } = overwrite;
  return api.request("PUT", `/channels/${channelId}/permissions/${id}`, { body });
}

export function deleteOverwrite(api: ApiClient, channelId: string, targetId: string): Promise<void> {
  return api.request("DELETE", `/channels/${channelId}/permissions/${targetId}`);
}

/** Let a channel, where the user manages webhooks, receive what an announcement channel publishes. */
export function followChannel(
  api: ApiClient,
  channelId: string,
  targetId: string,
): Promise<APIFollowedChannel> {
  return api.request("POST", `/channels/${channelId}/followers`, { body: { webhook_channel_id: targetId } });
}

export function getVoiceRegions(api: ApiClient, guildId: string): Promise<APIVoiceRegion[]> {
  return api.request("GET", `/guilds/${guildId}/regions`);
}
