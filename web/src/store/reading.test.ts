import type { APIChannel, APIMessage } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { reduce } from "./reducers";
import { isUnread, readStates } from "./reading";
import { INITIAL_STATE, type GuildState, type State } from "./state";

const CHANNEL = { id: "9", type: 0, guild_id: "7", last_message_id: "50" } as unknown as APIChannel;

function state(fields: Partial<State> = {}): State {
  return {
    ...INITIAL_STATE,
    user: { id: "1" } as State["user"],
    guilds: { "7": { id: "7", joinedAt: "2015-01-01T00:00:00Z" } as GuildState },
    channels: { "9": CHANNEL },
    members: { "7": { "1": { roles: ["33"] } as never } },
    ...fields,
  };
}

function message(fields: Partial<APIMessage>): APIMessage {
  return {
    id: "60",
    channel_id: "9",
    author: { id: "2" },
    mentions: [],
    mention_roles: [],
    ...fields,
  } as APIMessage;
}

describe("read states", () => {
  it("come from READY as a list or with a version, those of channels only", () => {
    const entries = [
      { id: "9", last_message_id: "40", mention_count: 2 },
      { id: "7", read_state_type: 1 },
    ];
    const expected = { "9": { lastMessageId: "40", mentions: 2 } };
    expect(readStates({ read_state: entries })).toEqual(expected);
    expect(readStates({ read_state: { entries } })).toEqual(expected);
    expect(readStates({})).toEqual({});
  });

  it("tell whether a channel has unread messages", () => {
    expect(isUnread(state(), CHANNEL)).toBe(true);
    expect(isUnread(state({ readStates: { "9": { lastMessageId: "50", mentions: 0 } } }), CHANNEL)).toBe(
      false,
    );
    const joined = { "7": { id: "7", joinedAt: "2026-01-01T00:00:00Z" } as GuildState };
    expect(isUnread(state({ guilds: joined }), CHANNEL)).toBe(false);
  });

  it("count all direct messages but those of a muted conversation, of which those count that mention", () => {
    const direct = { id: "8", type: 1 } as unknown as APIChannel;
    const muted = (end_time: string | null) =>
      state({
        channels: { "8": direct },
        guildSettings: {
          "@me": {
            channel_overrides: [{ channel_id: "8", muted: true, mute_config: { end_time } }],
          } as never,
        },
      });
    const counted = (before: State, now: number) => {
      let current = reduce(before, "MESSAGE_CREATE", message({ id: "61", channel_id: "8" }), now);
      const mentions = [{ id: "1" }] as APIMessage["mentions"];
      current = reduce(current, "MESSAGE_CREATE", message({ id: "62", channel_id: "8", mentions }), now);
      return current.readStates["8"]?.mentions;
    };
    expect(counted(state({ channels: { "8": direct } }), 0)).toBe(2);
    expect(counted(muted(null), 0)).toBe(1);
    expect(counted(muted("2026-01-01T00:00:00Z"), Date.parse("2026-01-01T00:00:01Z"))).toBe(2);
  });

  it("count messages that mention the user, by a role and with everyone as well", () => {
    let current = state();
    current = reduce(current, "MESSAGE_CREATE", message({ id: "61" }), 0);
    expect(current.readStates["9"]).toBeUndefined();
    current = reduce(current, "MESSAGE_CREATE", message({ id: "62", mention_roles: ["33"] }), 0);
    current = reduce(current, "MESSAGE_CREATE", message({ id: "63", mention_everyone: true }), 0);
    expect(current.readStates["9"]?.mentions).toBe(2);
  });

  it("end with the user's own message and with MESSAGE_ACK of another session", () => {
    let current = state({ readStates: { "9": { lastMessageId: "1", mentions: 3 } } });
    current = reduce(current, "MESSAGE_CREATE", message({ id: "70", author: { id: "1" } as never }), 0);
    expect(current.readStates["9"]).toEqual({ lastMessageId: "70", mentions: 0 });
    current = reduce(current, "MESSAGE_ACK", { channel_id: "9", message_id: "20", mention_count: 1 }, 0);
    expect(current.readStates["9"]).toEqual({ lastMessageId: "20", mentions: 1 });
  });
});
