import { expect, test } from "vitest";

import { sharedText } from "./sharedText";

test("a message has all that is shared, each once", () => {
  expect(sharedText({ title: "A hall", text: "Look", url: "https://example.org" })).toBe(
    "A hall\nLook\nhttps://example.org",
  );
  expect(sharedText({ title: "", text: "See https://example.org", url: "https://example.org" })).toBe(
    "See https://example.org",
  );
  expect(sharedText({ title: "Look", text: "Look", url: "" })).toBe("Look");
});

test("what shares nothing makes an empty message", () => {
  expect(sharedText({ title: " ", text: "", url: "" })).toBe("");
});
