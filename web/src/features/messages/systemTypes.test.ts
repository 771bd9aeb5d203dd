import { describe, expect, it } from "vitest";

import { MessageType } from "../../api/enums";
import { isSystemLine } from "./systemTypes";

describe("messages of the server", () => {
  it("are lines, except those with a card", () => {
    expect([MessageType.UserJoin, MessageType.ChannelPinnedMessage].map(isSystemLine)).toEqual([true, true]);
    expect([MessageType.Default, MessageType.Reply, MessageType.PollResult].map(isSystemLine)).toEqual([
      false,
      false,
      false,
    ]);
  });
});
