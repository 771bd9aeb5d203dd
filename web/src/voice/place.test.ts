import { beforeEach, expect, it, vi } from "vitest";

import type { APIChannel } from "discord-api-types/v10";

import { ChannelType } from "../api/enums";
import { INITIAL_STATE } from "../store/state";
import { Store } from "../store/store";
import { PlaceFollower, type PlaceCallbacks } from "./place";

const callbacks = {
  onEnter: vi.fn(),
  onServer: vi.fn(),
  onLost: vi.fn(),
  onJoin: vi.fn(),
  onLeave: vi.fn(),
  onOnline: vi.fn(),
} satisfies PlaceCallbacks;

const VOICE = { guild_id: "7", channel_id: "9", user_id: "1", session_id: "a" };
const SERVER = { guild_id: "7", token: "t", endpoint: "localhost" };
const PLACE = { guildId: "7", channelId: "9", sessionId: "a" };

let store: Store;

beforeEach(() => {
  vi.clearAllMocks();
  store = new Store();
  store.update(() => ({
    ...INITIAL_STATE,
    status: "connected",
    sessionId: "a",
    user: { id: "1" } as (typeof INITIAL_STATE)["user"],
    channels: { "9": { id: "9", type: ChannelType.GuildVoice } as APIChannel },
  }));
  new PlaceFollower(store, callbacks).start();
});

function loseSession(): void {
  store.update((state) => ({ ...state, sessionId: "b", loadingGuilds: ["7"], voiceServer: null }));
}

it("Sound is connected once the server has said where, and anew each time that it says so", () => {
  store.dispatch("VOICE_STATE_UPDATE", VOICE);
  expect(callbacks.onEnter).toHaveBeenCalledExactlyOnceWith(PLACE);
  expect(callbacks.onServer).not.toHaveBeenCalled();
  store.dispatch("VOICE_SERVER_UPDATE", SERVER);
  store.dispatch("VOICE_STATE_UPDATE", { ...VOICE, self_mute: true });
  expect(callbacks.onServer).toHaveBeenCalledOnce();
  store.dispatch("VOICE_SERVER_UPDATE", SERVER);
  expect(callbacks.onServer).toHaveBeenCalledTimes(2);
});

it("Who is moved connects with the token of the new channel alone", () => {
  store.dispatch("VOICE_STATE_UPDATE", VOICE);
  store.dispatch("VOICE_SERVER_UPDATE", SERVER);
  store.dispatch("VOICE_STATE_UPDATE", { ...VOICE, channel_id: "10" });
  expect(callbacks.onEnter).toHaveBeenLastCalledWith({ ...PLACE, channelId: "10" });
  expect(callbacks.onServer).toHaveBeenCalledOnce();
  store.dispatch("VOICE_SERVER_UPDATE", { ...SERVER, token: "other" });
  expect(callbacks.onServer.mock.lastCall).toEqual([
    { ...PLACE, channelId: "10" },
    { ...SERVER, token: "other" },
  ]);
});

it("Who comes from another guild connects with the token of the new one, in whatever order the events come", () => {
  const other = { ...VOICE, guild_id: "5", channel_id: "4" };
  store.dispatch("VOICE_STATE_UPDATE", other);
  store.dispatch("VOICE_SERVER_UPDATE", { ...SERVER, guild_id: "5" });
  callbacks.onServer.mockClear();
  store.dispatch("VOICE_STATE_UPDATE", VOICE);
  store.dispatch("VOICE_SERVER_UPDATE", { ...SERVER, token: "other" });
  store.dispatch("VOICE_STATE_UPDATE", { ...other, channel_id: null });
  expect(callbacks.onServer).toHaveBeenCalledExactlyOnceWith(PLACE, { ...SERVER, token: "other" });
  expect(callbacks.onLeave).not.toHaveBeenCalled();
});

it("A voice state of another device carries no sound here", () => {
  store.dispatch("VOICE_STATE_UPDATE", { ...VOICE, session_id: "other" });
  expect(callbacks.onEnter).not.toHaveBeenCalled();
});

it("Another device that joins, and a moderator who disconnects, end it", () => {
  store.dispatch("VOICE_STATE_UPDATE", VOICE);
  store.dispatch("VOICE_STATE_UPDATE", { ...VOICE, session_id: "other" });
  expect(callbacks.onLeave).toHaveBeenCalledOnce();
  store.dispatch("VOICE_STATE_UPDATE", VOICE);
  store.dispatch("VOICE_STATE_UPDATE", { ...VOICE, channel_id: null });
  expect(callbacks.onLeave).toHaveBeenCalledTimes(2);
  expect(callbacks.onJoin).not.toHaveBeenCalled();
});

it("Whose session is lost joins again once, when the new one knows the guild", () => {
  store.dispatch("VOICE_STATE_UPDATE", VOICE);
  loseSession();
  expect(callbacks.onLost).toHaveBeenCalledOnce();
  expect(callbacks.onJoin).not.toHaveBeenCalled();
  store.update((state) => ({ ...state, loadingGuilds: [], voiceStates: {} }));
  store.update((state) => ({ ...state }));
  expect(callbacks.onJoin).toHaveBeenCalledExactlyOnceWith("7", "9");
  store.dispatch("VOICE_STATE_UPDATE", { ...VOICE, session_id: "b" });
  expect(callbacks.onEnter).toHaveBeenLastCalledWith({ ...PLACE, sessionId: "b" });
  expect(callbacks.onLeave).not.toHaveBeenCalled();
});

it("Whose session is lost does not take the channel from another device, or join one that is gone", () => {
  store.dispatch("VOICE_STATE_UPDATE", VOICE);
  loseSession();
  store.update((state) => ({ ...state, loadingGuilds: [] }));
  store.dispatch("VOICE_STATE_UPDATE", { ...VOICE, session_id: "b" });
  loseSessionTo("c");
  store.dispatch("VOICE_STATE_UPDATE", { ...VOICE, session_id: "phone" });
  callbacks.onJoin.mockClear();
  store.update((state) => ({ ...state, loadingGuilds: [] }));
  expect(callbacks.onLeave).toHaveBeenCalledOnce();
  expect(callbacks.onJoin).not.toHaveBeenCalled();

  store.dispatch("VOICE_STATE_UPDATE", { ...VOICE, session_id: "c" });
  loseSessionTo("d");
  store.update((state) => ({ ...state, loadingGuilds: [], channels: {} }));
  expect(callbacks.onLeave).toHaveBeenCalledTimes(2);
  expect(callbacks.onJoin).not.toHaveBeenCalled();
});

function loseSessionTo(sessionId: string): void {
  store.update((state) => ({ ...state, sessionId, loadingGuilds: ["7"], voiceServer: null }));
}
