import { describe, expect, it } from "vitest";

import { targetOf } from "./roving";

// Two rows of which the first has a button beside it, and a last row.
const BESIDE = [false, true, false, false];

describe("keys in a list", () => {
  it.each([
    ["ArrowDown", 0, 2],
    ["ArrowDown", 1, 2],
    ["ArrowDown", 3, -1],
    ["ArrowUp", 2, 0],
    ["ArrowUp", 0, -1],
    ["ArrowRight", 0, 1],
    ["ArrowRight", 2, -1],
    ["ArrowLeft", 1, 0],
    ["ArrowLeft", 2, -1],
    ["Home", 3, 0],
    ["End", 0, 3],
    ["a", 0, -1],
  ])("%s at %i leads to %i", (key, index, target) => {
    expect(targetOf(key, index, BESIDE)).toBe(target);
  });
});
