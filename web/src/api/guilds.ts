import type {
  APIChannel,
  APIGuild,
  APIGuildMember,
  APIInvite,
  RESTPostAPIChannelInviteJSONBody,
  RESTPostAPIGuildChannelJSONBody,
  RESTPostAPIGuildsJSONBody,
} from "discord-api-types/v10";

import type { ApiClient } from "./client";
import { InviteTargetType } from "./enums";

export function createGuild(api: ApiClient, body: RESTPostAPIGuildsJSONBody): Promise<APIGuild> {
  return api.request("POST", "/guilds", { body });
}

export function leaveGuild(api: ApiClient, guildId: string): Promise<void> {
  return api.request("DELETE", `/users/@me/guilds/${guildId}`);
}

export function createChannel(
  api: ApiClient,
  guildId: string,
  body: RESTPostAPIGuildChannelJSONBody,
): Promise<APIChannel> {
  return api.request("POST", `/guilds/${guildId}/channels`, { body });
}

/** Open a direct message with a user, or return the one that exists. */
export function openDirectMessage(api: ApiClient, userId: string): Promise<APIChannel> {
  return api.request("POST", "/users/@me/channels", { body: { recipient_id: userId } });
}

/** What makes an invite lead into the Activity of an application. */
export function activityTarget(applicationId: string): RESTPostAPIChannelInviteJSONBody {
  return {
    // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- the values are the same
    target_type: InviteTargetType.EmbeddedApplication,
    target_application_id: applicationId,
  };
}

export function createInvite(
  api: ApiClient,
  channelId: string,
  body: RESTPostAPIChannelInviteJSONBody,
): Promise<APIInvite> {
  return api.request("POST", `/channels/${channelId}/invites`, { body });
}

export function getInvite(api: ApiClient, code: string): Promise<APIInvite> {
  return api.request("GET", `/invites/${encodeURIComponent(code)}`, { query: { with_counts: true } });
}

export function acceptInvite(api: ApiClient, code: string): Promise<APIInvite> {
  return api.request("POST", `/invites/${encodeURIComponent(code)}`);
}

export function kickMember(api: ApiClient, guildId: string, userId: string, reason: string): Promise<void> {
  return api.request("DELETE", `/guilds/${guildId}/members/${userId}`, { reason });
}

export function banUser(
  api: ApiClient,
  guildId: string,
  userId: string,
  options: { reason: string; deleteMessageSeconds: number },
): Promise<void> {
  return api.request("PUT", `/guilds/${guildId}/bans/${userId}`, {
    reason: options.reason,
    body: { delete_message_seconds: options.deleteMessageSeconds },
  });
}

/** Time a member out until a moment (ISO 8601), or end the timeout with null. */
export function timeOutMember(
  api: ApiClient,
  guildId: string,
  userId: string,
  until: string | null,
  reason: string,
): Promise<void> {
  return api.request("PATCH", `/guilds/${guildId}/members/${userId}`, {
    reason,
    body: { communication_disabled_until: until },
  });
}

/** Change how the caller appears in a guild: null takes a nickname or a picture away. */
export function modifyOwnMember(
  api: ApiClient,
  guildId: string,
  changes: { nick?: string | null; avatar?: string | null; banner?: string | null },
): Promise<APIGuildMember> {
  return api.request("PATCH", `/guilds/${guildId}/members/@me`, { body: changes });
}

/** Set the caller's own nickname in a guild, or remove it with null. */
export function setOwnNickname(api: ApiClient, guildId: string, nick: string | null): Promise<unknown> {
  return api.request("PATCH", `/guilds/${guildId}/members/@me`, { body: { nick } });
}
