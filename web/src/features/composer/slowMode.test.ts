import type { APIChannel, APIMessage } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { MessageType } from "../../api/enums";
import { INITIAL_STATE, type State } from "../../store/state";
import { lastWrittenAt, slowModeOf } from "./slowMode";

const CHANNEL = { id: "9", type: 0, guild_id: "1", rate_limit_per_user: 10 } as unknown as APIChannel;

function message(id: string, author: string, type: MessageType, timestamp: string): APIMessage {
  return { id, type, timestamp, author: { id: author } } as APIMessage;
}

function stateOf(permissions: string, messages: readonly APIMessage[] = []): State {
  return {
    ...INITIAL_STATE,
    user: { id: "5" },
    guilds: { "1": { id: "1", ownerId: "4", roles: { "1": { id: "1", permissions } } } },
    members: { "1": { "5": { roles: [] } } },
    messages: { "9": { messages, hasOlder: false, hasNewer: false } },
  } as unknown as State;
}

describe("slowModeOf", () => {
  it("is that of the channel, unless a permission exempts the user", () => {
    expect(slowModeOf(stateOf("1024"), CHANNEL)).toBe(10);
    expect(slowModeOf(stateOf(String(1024 + 8192)), CHANNEL)).toBe(0);
    expect(slowModeOf(stateOf("1024"), { ...CHANNEL, rate_limit_per_user: 0 } as APIChannel)).toBe(0);
  });
});

describe("lastWrittenAt", () => {
  it("is when the user's own last message was sent, not one that the server has written for them", () => {
    const messages = [
      message("1", "5", MessageType.Reply, "2026-01-01T00:00:05Z"),
      message("2", "5", MessageType.ChannelPinnedMessage, "2026-01-01T00:00:07Z"),
      message("3", "4", MessageType.Default, "2026-01-01T00:00:09Z"),
    ];
    expect(lastWrittenAt(stateOf("0", messages), "9")).toBe(Date.parse("2026-01-01T00:00:05Z"));
    expect(lastWrittenAt(stateOf("0"), "9")).toBe(0);
  });
});
