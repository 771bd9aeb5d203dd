import { describe, expect, it } from "vitest";

import { callWith, incomingCalls } from "./calls";
import { reduce } from "./reducers";
import { INITIAL_STATE, type State } from "./state";
import { ownVoiceState } from "./voice";

const START: State = { ...INITIAL_STATE, user: { id: "1" } as State["user"], sessionId: "s" };
const CALL = { channel_id: "9", message_id: "20", region: "local", ringing: ["1"], voice_states: [] };

function joined(state: State, userId: string, channelId: string | null): State {
  return reduce(state, "VOICE_STATE_UPDATE", { channel_id: channelId, user_id: userId, session_id: "s" }, 0);
}

describe("calls", () => {
  it("ring until they are answered, declined or over", () => {
    const ringing = reduce(START, "CALL_CREATE", CALL, 0);
    expect(incomingCalls(ringing)).toEqual(["9"]);
    expect(incomingCalls(reduce(ringing, "CALL_UPDATE", { ...CALL, ringing: [] }, 0))).toEqual([]);
    expect(incomingCalls(joined(ringing, "1", "9"))).toEqual([]);
    expect(incomingCalls(reduce(ringing, "CALL_DELETE", { channel_id: "9" }, 0))).toEqual([]);
  });

  it("have the voice states without a guild, also of those who leave", () => {
    const both = joined(joined(reduce(START, "CALL_CREATE", CALL, 0), "2", "9"), "1", "9");
    expect([callWith(both, "2"), ownVoiceState(both)?.guildId]).toEqual(["9", "9"]);
    const left = joined(both, "1", null);
    expect([callWith(left, "2"), ownVoiceState(left)]).toEqual(["9", null]);
  });

  it("name their channel in place of a guild as the server for sound", () => {
    const state = joined(reduce(START, "CALL_CREATE", CALL, 0), "1", "9");
    const server = { guild_id: null, channel_id: "9", token: "secret", endpoint: "localhost" };
    const connected = reduce(state, "VOICE_SERVER_UPDATE", server, 0);
    expect(connected.voiceServer).toEqual({ guild_id: "9", token: "secret", endpoint: "localhost" });
    expect(joined(connected, "1", null).voiceServer).toBeNull();
  });

  it("are forgotten with the session and with the group", () => {
    const state = joined(reduce(START, "CALL_CREATE", CALL, 0), "2", "9");
    const gone = reduce(state, "CHANNEL_DELETE", { id: "9", type: 3 }, 0);
    expect([gone.calls, gone.voiceStates]).toEqual([{}, {}]);
    const ready = { user: { id: "1" }, guilds: [], session_id: "t", read_state: [] };
    const anew = reduce(state, "READY", ready, 0);
    expect([anew.calls, anew.voiceStates]).toEqual([{}, {}]);
  });
});
