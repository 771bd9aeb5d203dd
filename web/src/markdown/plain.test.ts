import { describe, expect, it } from "vitest";

import { plainText } from "./plain";

describe("the plain text of a message", () => {
  it("has no formatting, and spoilers stay hidden", () => {
    expect(plainText("# Tea\n**green** or `black`, ||poison|| :)", 100)).toBe("Tea green or black, ▒▒▒ :)");
    expect(plainText("- one\n- [two](https://example.org)", 100)).toBe("one two");
  });

  it("is cut", () => {
    expect(plainText("x".repeat(20), 10)).toBe(`${"x".repeat(10)}…`);
  });
});
