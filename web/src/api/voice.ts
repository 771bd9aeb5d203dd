import type { APIStageInstance } from "discord-api-types/v10";

import type { ApiClient } from "./client";

export interface VoiceMemberChanges {
  mute?: boolean;
  deaf?: boolean;
  /** Null disconnects the member. */
  channel_id?: string | null;
}

/** Mute, deafen, move or disconnect a member who is in a voice channel. */
export function modifyVoiceMember(
  api: ApiClient,
  guildId: string,
  userId: string,
  changes: VoiceMemberChanges,
): Promise<unknown> {
  return api.request("PATCH", `/guilds/${guildId}/members/${userId}`, { body: changes });
}

/** Speak on a stage (not suppressed), return to the audience, or request to speak. */
export function modifyOwnStageState(
  api: ApiClient,
  guildId: string,
  changes: { channel_id: string; suppress?: boolean; request_to_speak_timestamp?: string | null },
): Promise<void> {
  return api.request("PATCH", `/guilds/${guildId}/voice-states/@me`, { body: changes });
}

/** Invite a member to speak on a stage, or move them to the audience. */
export function modifyStageState(
  api: ApiClient,
  guildId: string,
  userId: string,
  changes: { channel_id: string; suppress: boolean },
): Promise<void> {
  return api.request("PATCH", `/guilds/${guildId}/voice-states/${userId}`, { body: changes });
}

/** Set the text below a voice channel's name; null removes it. */
export function setVoiceStatus(api: ApiClient, channelId: string, status: string | null): Promise<void> {
  return api.request("PUT", `/channels/${channelId}/voice-status`, { body: { status } });
}

export function startStage(
  api: ApiClient,
  stage: { channel_id: string; topic: string; send_start_notification: boolean },
): Promise<APIStageInstance> {
  return api.request("POST", "/stage-instances", { body: stage });
}

export function modifyStage(api: ApiClient, channelId: string, topic: string): Promise<APIStageInstance> {
  return api.request("PATCH", `/stage-instances/${channelId}`, { body: { topic } });
}

export function endStage(api: ApiClient, channelId: string): Promise<void> {
  return api.request("DELETE", `/stage-instances/${channelId}`);
}
