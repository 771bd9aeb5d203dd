import { describe, expect, it } from "vitest";

import { chosenChannels } from "./channelChoice";
import type { ChannelGroup } from "./selectors";
import { INITIAL_STATE, type State } from "./state";

const groups = [
  { category: null, channels: [{ id: "1" }, { id: "2" }] },
  { category: { id: "8" }, channels: [{ id: "3" }] },
  { category: { id: "9" }, channels: [{ id: "4" }] },
] as unknown as ChannelGroup[];
const withFlags = (flags: number): State =>
  ({
    ...INITIAL_STATE,
    guildSettings: {
      "10": {
        flags,
        channel_overrides: [
          { channel_id: "1", flags: 1 << 12 },
          { channel_id: "8", flags: 1 << 12 },
          { channel_id: "4", flags: 0 },
        ],
      },
    },
  }) as unknown as State;
const ids = (state: State) =>
  chosenChannels(state, "10", groups).flatMap((group) => group.channels.map((channel) => channel.id));

describe("the channels of the list", () => {
  it("are all until the user chooses", () => {
    expect(ids(INITIAL_STATE)).toEqual(["1", "2", "3", "4"]);
    expect(ids(withFlags(0))).toEqual(["1", "2", "3", "4"]);
  });

  it("are then the chosen ones, with their categories' and those with mentions", () => {
    const state = withFlags(1 << 14);
    expect(ids(state)).toEqual(["1", "3"]);
    const mentioned = { ...state, readStates: { "4": { lastMessageId: "0", mentions: 2 } } };
    expect(ids(mentioned)).toEqual(["1", "3", "4"]);
  });
});
