import type { GatewayVoiceState } from "discord-api-types/v10";

import type { CallState } from "./entities";
import { filterEntries, keyBy, updateEntry, withEntry, withoutEntry, type ReadonlyRecord } from "./records";
import type { State } from "./state";

interface CallData {
  channel_id: string;
  message_id: string;
  ringing: readonly string[];
}

export function putCall(state: State, data: CallData & { voice_states: GatewayVoiceState[] }): State {
  return {
    ...state,
    calls: withEntry(state.calls, data.channel_id, callOf(data)),
    voiceStates: withEntry(
      state.voiceStates,
      data.channel_id,
      keyBy(data.voice_states, (voice) => voice.user_id),
    ),
  };
}

export function updateCall(state: State, data: CallData): State {
  return { ...state, calls: updateEntry(state.calls, data.channel_id, () => callOf(data)) };
}

export function removeCall(state: State, { channel_id: channelId }: { channel_id: string }): State {
  return {
    ...state,
    calls: withoutEntry(state.calls, channelId),
    voiceStates: withoutEntry(state.voiceStates, channelId),
  };
}

/** The voice states without those of calls, which the server sends again to a new session. */
export function voiceStatesOfGuilds({ voiceStates, calls }: State): State["voiceStates"] {
  return filterEntries(voiceStates, (_states, id) => calls[id] === undefined);
}

/** The channel whose call a user is in; undefined for none. */
export function callWith(state: State, userId: string): string | undefined {
  return Object.keys(state.calls).find((id) => state.voiceStates[id]?.[userId] !== undefined);
}

const NO_STATES: ReadonlyRecord<GatewayVoiceState> = {};

/** The calls that ring the user, on a device that they are not in them with; by their channels. */
export function incomingCalls(state: State): string[] {
  const userId = state.user?.id ?? "";
  return Object.entries(state.calls)
    .filter(
      ([id, call]) => call.ringing.includes(userId) && !(userId in (state.voiceStates[id] ?? NO_STATES)),
    )
    .map(([id]) => id);
}

function callOf(data: CallData): CallState {
  return { messageId: data.message_id, ringing: data.ringing };
}
