import { expect, test } from "vitest";

import { currentIndex } from "./CategoryBar";

test("the category in view is the last that has begun", () => {
  expect(currentIndex([0, 100, 300], 0)).toBe(0);
  expect(currentIndex([0, 100, 300], 99.5)).toBe(1);
  expect(currentIndex([0, 100, 300], 299)).toBe(2);
  expect(currentIndex([0, 100, 300], 9000)).toBe(2);
});

test("before the list is there, the first one is in view", () => {
  expect(currentIndex([], 0)).toBe(0);
});
