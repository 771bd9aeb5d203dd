import { describe, expect, it } from "vitest";

import { reduce } from "./reducers";
import { INITIAL_STATE, type State } from "./state";
import { ownVoiceState, voiceStatesIn } from "./voice";

const START: State = { ...INITIAL_STATE, user: { id: "1" } as State["user"] };

describe("voice states", () => {
  it("tell who is in which channel, and where the user is", () => {
    const voice = { guild_id: "7", channel_id: "9", user_id: "1" };
    let state = reduce(START, "VOICE_STATE_UPDATE", voice, 0);
    state = reduce(state, "VOICE_STATE_UPDATE", { ...voice, user_id: "2", channel_id: "10" }, 0);
    expect(voiceStatesIn(state, "7", "9").map((each) => each.user_id)).toEqual(["1"]);
    expect(ownVoiceState(state)).toEqual({ guildId: "7", voice });
    state = reduce(state, "VOICE_STATE_UPDATE", { ...voice, channel_id: null }, 0);
    expect(voiceStatesIn(state, "7", "9")).toEqual([]);
    expect(ownVoiceState(state)).toBeNull();
  });

  it("of the user end what is known of the server for sound, unless channel and session stay", () => {
    const voice = { guild_id: "7", channel_id: "9", user_id: "1", session_id: "a" };
    const server = { guild_id: "7", token: "secret", endpoint: "localhost" };
    let state = reduce(START, "VOICE_STATE_UPDATE", voice, 0);
    state = reduce(state, "VOICE_SERVER_UPDATE", server, 0);
    expect(state.voiceServer).toEqual(server);
    state = reduce(state, "VOICE_STATE_UPDATE", { ...voice, self_mute: true }, 0);
    state = reduce(state, "VOICE_STATE_UPDATE", { ...voice, user_id: "2", channel_id: "10" }, 0);
    expect(state.voiceServer).toEqual(server);
    const moved = reduce(state, "VOICE_STATE_UPDATE", { ...voice, channel_id: "10" }, 0);
    expect(moved.voiceServer).toBeNull();
    expect(reduce(state, "VOICE_STATE_UPDATE", { ...voice, session_id: "b" }, 0).voiceServer).toBeNull();
    const left = { ...voice, guild_id: "6", channel_id: null };
    expect(reduce(state, "VOICE_STATE_UPDATE", left, 0).voiceServer).toEqual(server);
    expect(reduce(state, "VOICE_STATE_UPDATE", { ...voice, channel_id: null }, 0).voiceServer).toBeNull();
  });

  it("bring users that no list has named", () => {
    const user = { id: "5", username: "eve" };
    const voice = { guild_id: "7", channel_id: "9", user_id: "5", member: { user } };
    expect(reduce(START, "VOICE_STATE_UPDATE", voice, 0).users["5"]).toEqual(user);
  });
});

describe("the status of a voice channel", () => {
  it("is set, listed and removed", () => {
    let state = reduce(START, "CHANNEL_INFO", { guild_id: "7", channels: [{ id: "9", status: "tea" }] }, 0);
    state = reduce(state, "VOICE_CHANNEL_STATUS_UPDATE", { id: "10", guild_id: "7", status: "chess" }, 0);
    expect(state.voiceStatuses).toEqual({ "9": "tea", "10": "chess" });
    state = reduce(state, "VOICE_CHANNEL_STATUS_UPDATE", { id: "9", guild_id: "7", status: null }, 0);
    expect(state.voiceStatuses).toEqual({ "10": "chess" });
  });
});

describe("a stage", () => {
  it("is live from its creation to its end", () => {
    const stage = { id: "50", channel_id: "9", guild_id: "7", topic: "first" };
    let state = reduce(START, "STAGE_INSTANCE_CREATE", stage, 0);
    state = reduce(state, "STAGE_INSTANCE_UPDATE", { ...stage, topic: "second" }, 0);
    expect(state.stages["9"]?.topic).toBe("second");
    expect(reduce(state, "STAGE_INSTANCE_DELETE", stage, 0).stages).toEqual({});
  });
});
