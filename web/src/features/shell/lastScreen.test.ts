import type { APIChannel } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { INITIAL_STATE, type GuildState, type State } from "../../store/state";
import { keepLastScreen, lastChannel, lastScreen, reachablePath } from "./lastScreen";

function emptyStorage(): Storage {
  const items = new Map<string, string>();
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  } as unknown as Storage;
}

describe("the last screen", () => {
  it("is the direct messages before any was open", () => {
    expect(lastScreen("1", emptyStorage())).toBe("/channels/@me");
  });

  it("is each account's own", () => {
    const storage = emptyStorage();
    keepLastScreen("1", "10", "20", storage);
    keepLastScreen("2", null, "30", storage);
    expect(lastScreen("1", storage)).toBe("/channels/10/20");
    expect(lastScreen("2", storage)).toBe("/channels/@me/30");
    expect(lastChannel("1", "10", storage)).toBe("20");
    expect(lastChannel("2", "10", storage)).toBeNull();
  });

  it("leaves each guild its own last channel", () => {
    const storage = emptyStorage();
    keepLastScreen("1", "10", "20", storage);
    keepLastScreen("1", "11", null, storage);
    expect(lastScreen("1", storage)).toBe("/channels/11");
    expect(lastChannel("1", "10", storage)).toBe("20");
  });
});

describe("the path that can be reached", () => {
  const guild = { id: "10", ownerId: "1", roles: {} } as unknown as GuildState;
  const everyone = { id: "10", permissions: "0" };
  const others = {
    id: "11",
    ownerId: "9",
    roles: { "11": { ...everyone, id: "11" } },
  } as unknown as GuildState;
  const channels = {
    "20": { id: "20", type: 0, guild_id: "10" },
    "21": { id: "21", type: 0, guild_id: "11" },
    "30": { id: "30", type: 1 },
  } as unknown as Record<string, APIChannel>;
  const state = {
    ...INITIAL_STATE,
    user: { id: "1" },
    guilds: { "10": guild, "11": others },
    channels,
    members: { "10": { "1": { roles: [] } }, "11": { "1": { roles: [] } } },
    loadingGuilds: ["12"],
  } as unknown as State;

  it.each([
    ["/channels/@me", "/channels/@me"],
    ["/channels/@me/30", "/channels/@me/30"],
    ["/channels/10", "/channels/10"],
    ["/channels/10/20", "/channels/10/20"],
    ["/channels/12/1", "/channels/12/1"],
  ])("is %s itself", (path, reachable) => {
    expect(reachablePath(state, path)).toBe(reachable);
  });

  it.each([
    ["a channel that was deleted", "/channels/10/29", "/channels/10"],
    ["a channel that may not be viewed", "/channels/11/21", "/channels/11"],
    ["a channel of another guild", "/channels/10/21", "/channels/10"],
    ["a guild that was left", "/channels/13/1", "/channels/@me"],
    ["a conversation that was closed", "/channels/@me/31", "/channels/@me"],
    ["no path of a channel", "//example.org/", "/channels/@me"],
  ])("stands for %s", (_, path, reachable) => {
    expect(reachablePath(state, path)).toBe(reachable);
  });
});
