import { expect, test } from "vitest";

import { hueOf, HUES, initials } from "./hues";

test("an id has the same hue each time", () => {
  expect(hueOf("175928847299117063")).toBe(hueOf("175928847299117063"));
});

test("ids of accounts that were made one after the other share out all hues", () => {
  const counts = new Map<string, number>();
  for (let index = 0; index < 2000; index += 1) {
    const hue = hueOf(String((1_500_000_000_000n << 22n) + (BigInt(index) << 22n)));
    counts.set(hue, (counts.get(hue) ?? 0) + 1);
  }
  expect([...counts.keys()].sort()).toEqual([...HUES].sort());
  expect(Math.min(...counts.values())).toBeGreaterThan(100);
});

test.each([
  ["The Moot", 2, "TM"],
  ["The Moot", 1, "T"],
  ["rust", 2, "R"],
  ["open-maps (berlin)", 2, "OM"],
  ["北京 读书会", 2, "北读"],
  ["👩‍🚀 crew", 2, "👩‍🚀C"],
  ["   ", 2, "?"],
  ["***", 2, "*"],
  ["", 1, "?"],
])("the initials of %j, at most %i, are %j", (name, count, expected) => {
  expect(initials(name, count)).toBe(expected);
});
