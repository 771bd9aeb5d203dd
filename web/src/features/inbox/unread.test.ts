import type { APIChannel } from "discord-api-types/v10";
import { expect, test } from "vitest";

import { INITIAL_STATE, type State } from "../../store/state";
import { unreadChannels } from "./unread";

const direct = (id: string, last_message_id: string | null): APIChannel =>
  ({
    id,
    type: 1,
    last_message_id,
    recipients: [{ id: `2${id}`, username: `user${id}` }],
  }) as unknown as APIChannel;

function state(channels: readonly APIChannel[], fields: Partial<State> = {}): State {
  return {
    ...INITIAL_STATE,
    user: { id: "1" } as State["user"],
    channels: Object.fromEntries(channels.map((channel) => [channel.id, channel])),
    ...fields,
  };
}

test("channels with mentions stand first, then those with the latest message", () => {
  const channels = [direct("5", "100"), direct("6", "300"), direct("7", "200")];
  const readStates = { "5": { lastMessageId: "90", mentions: 2 } };
  expect(unreadChannels(state(channels, { readStates })).map(({ channel }) => channel.id)).toEqual([
    "5",
    "6",
    "7",
  ]);
});

test("what is read, empty or muted does not stand there", () => {
  const channels = [direct("5", "100"), direct("6", null), direct("7", "200")];
  const readStates = { "5": { lastMessageId: "100", mentions: 0 } };
  const guildSettings = {
    "@me": { channel_overrides: [{ channel_id: "7", muted: true, mute_config: null }] } as never,
  };
  expect(unreadChannels(state(channels, { readStates, guildSettings }))).toEqual([]);
});

test("a channel of a guild that the user cannot view does not stand there", () => {
  const hidden = { id: "9", type: 0, guild_id: "7", last_message_id: "50" } as unknown as APIChannel;
  expect(unreadChannels(state([hidden]))).toEqual([]);
});

test("marking a channel as read reads its newest message", () => {
  expect(unreadChannels(state([direct("5", "100")]))[0]?.messageId).toBe("100");
});
