import type {
  APIStageInstance,
  GatewayVoiceState,
  GatewayVoiceStateUpdateDispatchData,
} from "discord-api-types/v10";

import { callWith } from "./calls";
import { withEntry, withoutEntry, type ReadonlyRecord } from "./records";
import type { State } from "./state";
import type { VoiceEffectData, VoiceServer } from "./entities";

/** What stands for the guild of a voice state: its id, or the id of the channel of a call. */
function serverIdOf(state: State, data: GatewayVoiceStateUpdateDispatchData): string | undefined {
  return data.guild_id ?? data.channel_id ?? callWith(state, data.user_id);
}

/** The guild of a voice channel for the gateway, which knows none for calls: null. */
export function guildOfVoice(serverId: string, channelId: string): string | null {
  return serverId === channelId ? null : serverId;
}

export function updateVoiceState(state: State, data: GatewayVoiceStateUpdateDispatchData): State {
  const serverId = serverIdOf(state, data);
  if (serverId === undefined) {
    return state;
  }
  const states = state.voiceStates[serverId] ?? {};
  const updated =
    data.channel_id === null ? withoutEntry(states, data.user_id) : withEntry(states, data.user_id, data);
  const user = data.member?.user;
  const isOwn = data.user_id === state.user?.id;
  const stays =
    states[data.user_id]?.channel_id === data.channel_id &&
    states[data.user_id]?.session_id === data.session_id;
  return {
    ...state,
    voiceServer: isOwn && !stays && state.voiceServer?.guild_id === serverId ? null : state.voiceServer,
    users: user === undefined ? state.users : withEntry(state.users, user.id, user),
    voiceStates: withEntry(state.voiceStates, serverId, updated),
  };
}

/** Each is another object, also one that says the same: clients connect anew by each. */
export function setVoiceServer(
  state: State,
  data: Omit<VoiceServer, "guild_id"> & { guild_id: string | null; channel_id?: string },
): State {
  const { token, endpoint } = data;
  return { ...state, voiceServer: { guild_id: data.guild_id ?? data.channel_id ?? "", token, endpoint } };
}

export function setVoiceEffect(state: State, data: VoiceEffectData, now: number): State {
  return { ...state, voiceEffect: { ...data, at: now } };
}

/** Set the text that a voice channel shows below its name; null removes it. */
export function setVoiceStatus(state: State, data: { id: string; status: string | null }): State {
  return {
    ...state,
    voiceStatuses: data.status
      ? withEntry(state.voiceStatuses, data.id, data.status)
      : withoutEntry(state.voiceStatuses, data.id),
  };
}

/** The answer to opcode 43: all voice channels of a guild that have a status. */
export function setVoiceStatuses(
  state: State,
  data: { channels: readonly { id: string; status?: string | null }[] },
): State {
  return data.channels.reduce(
    (current, { id, status }) => (status === undefined ? current : setVoiceStatus(current, { id, status })),
    state,
  );
}

export function putStage(state: State, stage: APIStageInstance): State {
  return { ...state, stages: withEntry(state.stages, stage.channel_id, stage) };
}

export function removeStage(state: State, stage: APIStageInstance): State {
  return { ...state, stages: withoutEntry(state.stages, stage.channel_id) };
}

const NO_STATES: ReadonlyRecord<GatewayVoiceState> = {};

/** Who is connected to a voice or stage channel, in the order of their ids. */
export function voiceStatesIn(state: State, guildId: string, channelId: string): GatewayVoiceState[] {
  return Object.values(state.voiceStates[guildId] ?? NO_STATES).filter(
    (voice) => voice.channel_id === channelId,
  );
}

/** The user's voice state with its guild, on whatever device; null while they are in no voice channel. */
export function ownVoiceState(state: State): { guildId: string; voice: GatewayVoiceState } | null {
  const userId = state.user?.id ?? "";
  for (const guildId of Object.keys(state.voiceStates)) {
    const voice = state.voiceStates[guildId]?.[userId];
    if (voice !== undefined) {
      return { guildId, voice };
    }
  }
  return null;
}
