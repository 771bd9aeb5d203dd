import { expect, test } from "vitest";

import { fit, isOwnUrl, scaled } from "./media";

test("a size keeps its proportions within the maximum, and is never enlarged", () => {
  expect(fit(4200, 320)).toEqual({ width: 420, height: 32 });
  expect(fit(100, 3200)).toEqual({ width: 10, height: 320 });
  expect(fit(60, 40)).toEqual({ width: 60, height: 40 });
  expect(fit(100_000, 1)).toEqual({ width: 420, height: 1 });
});

test("an image is requested at twice its size, with the signature that its URL has", () => {
  expect(scaled("https://x.example/a?ex=1", { width: 10, height: 20 })).toBe(
    "https://x.example/a?ex=1&width=20&height=40",
  );
});

test("only URLs of this server are its own", () => {
  const origin = "https://moot.example";
  expect(isOwnUrl("https://moot.example/external/x", origin)).toBe(true);
  expect(isOwnUrl("https://elsewhere.example/x.png", origin)).toBe(false);
  expect(isOwnUrl("https://moot.example.elsewhere.example/x", origin)).toBe(false);
  expect(isOwnUrl("no url", origin)).toBe(false);
  expect(isOwnUrl(undefined, origin)).toBe(false);
});
