import { describe, expect, it } from "vitest";

import { mentionCount } from "./reading";
import type { State } from "./state";

describe("the number in the title", () => {
  it("counts the mentions of channels that are still there", () => {
    const readStates = {
      "1": { lastMessageId: "0", mentions: 2 },
      "2": { lastMessageId: "0", mentions: 3 },
      "9": { lastMessageId: "0", mentions: 5 },
    };
    const channels = { "1": {}, "2": {} } as unknown as State["channels"];
    expect(mentionCount({ readStates, channels })).toBe(5);
  });
});
