import { describe, expect, it } from "vitest";

import { customActivities } from "./activities";

const NOW = Date.parse("2026-01-01T12:00:00Z");
const status = { text: "at tea", emoji_id: null, emoji_name: "🍵", expires_at: null };

describe("the activity of a custom status", () => {
  it("has its text and emoji until it ends", () => {
    expect(customActivities(status, NOW)).toEqual([
      { name: "Custom Status", type: 4, state: "at tea", emoji: { name: "🍵" } },
    ]);
    const until = { ...status, expires_at: "2026-01-01T12:00:00Z" };
    expect(customActivities(until, NOW - 1)).toHaveLength(1);
    expect(customActivities(until, NOW)).toEqual([]);
    expect(customActivities(null, NOW)).toEqual([]);
  });
});
