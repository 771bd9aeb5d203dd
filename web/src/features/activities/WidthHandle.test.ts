import { expect, test } from "vitest";

import { boundedShare } from "./WidthHandle";

test("the Activity and the conversation both keep a quarter of the window at least", () => {
  expect(boundedShare(1)).toBe(25);
  expect(boundedShare(99)).toBe(70);
  expect(boundedShare(51.4)).toBe(51);
});

test("what was stored and is no number counts as the standard", () => {
  expect(boundedShare(Number("wide"))).toBe(45);
});
