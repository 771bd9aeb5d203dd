import { describe, expect, it } from "vitest";

import { MessageFlag } from "../../api/enums";
import { idAtTime } from "../../ui/times";
import { canSelect, MAX_SELECTED, toggled } from "./selecting";

const NOW = Date.parse("2026-06-01T12:00:00Z");
const DAY = 86_400_000;
const sent = (daysAgo: number) => ({ id: idAtTime(NOW - daysAgo * DAY) });

describe("a selection of messages", () => {
  it("takes messages of the last 14 days, until it is full", () => {
    expect(canSelect(sent(13.9), 0, NOW)).toBe(true);
    expect(canSelect(sent(14.1), 0, NOW)).toBe(false);
    expect(canSelect(sent(1), MAX_SELECTED - 1, NOW)).toBe(true);
    expect(canSelect(sent(1), MAX_SELECTED, NOW)).toBe(false);
  });

  it("takes no messages that only the user has", () => {
    expect(canSelect({ ...sent(1), flags: MessageFlag.Ephemeral }, 0, NOW)).toBe(false);
  });

  it("has a message or has it not", () => {
    const one = toggled(new Set(), "1");
    expect([...toggled(one, "2")]).toEqual(["1", "2"]);
    expect([...toggled(one, "1")]).toEqual([]);
  });
});
