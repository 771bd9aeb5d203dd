import { describe, expect, it } from "vitest";

import { INITIAL_STATE, type State } from "../../store/state";
import { switcherItems } from "./items";

const STATE = {
  ...INITIAL_STATE,
  user: { id: "1" },
  guilds: {
    "10": { id: "10", name: "The Moot", ownerId: "1", roles: {}, joinedAt: null },
  },
  members: { "10": { "1": { user: { id: "1" }, roles: [] } } },
  channels: {
    "11": { id: "11", guild_id: "10", type: 0, name: "general", last_message_id: "50", parent_id: "14" },
    "12": { id: "12", guild_id: "10", type: 2, name: "gathering" },
    "13": { id: "13", guild_id: "10", type: 11, name: "genesis", parent_id: "11", last_message_id: "60" },
    "14": { id: "14", guild_id: "10", type: 4, name: "Texts" },
    "20": { id: "20", type: 1, recipients: [{ id: "2", username: "gene", global_name: null }] },
  },
  readStates: {
    "11": { lastMessageId: "50", mentions: 0 },
    "13": { lastMessageId: "55", mentions: 0 },
    "20": { lastMessageId: "0", mentions: 2 },
  },
} as unknown as State;

/** The labels of the places that match. */
function labels(query: string): string[] {
  return switcherItems(STATE, query).map((item) => item.label);
}

describe("the quick switcher", () => {
  it("leads to channels, threads, direct messages and guilds by name", () => {
    expect(labels("gen")).toEqual(["gene", "general", "genesis"]);
    expect(labels("moot")).toContain("The Moot");
    expect(switcherItems(STATE, "genesis")[0]?.detail).toBe("#general · The Moot");
  });

  it("is limited by a sign", () => {
    expect(labels("@ge")).toEqual(["gene"]);
    expect(labels("!")).toEqual(["gathering"]);
    expect(labels("*")).toEqual(["The Moot"]);
    expect(labels("#gen")).toEqual(["general", "genesis"]);
  });

  it("shows mentions and unread channels first", () => {
    expect(labels("").slice(0, 3)).toEqual(["gene", "genesis", "general"]);
  });
});
