import { describe, expect, it } from "vitest";

import { threadName } from "./names";

describe("the name of a thread from a message", () => {
  it("is its first line with text, without formatting and mentions", () => {
    expect(threadName("\n**Tea** at <@12> `noon` <:cup:34>\nand more")).toBe("Tea at  noon cup");
  });

  it("is empty for a message without text", () => {
    expect(threadName("")).toBe("");
    expect(threadName("<@12>")).toBe("");
  });

  it("is cut at a word", () => {
    const name = threadName("a question about something that takes a long time to explain");
    expect(name).toBe("a question about something that takes a…");
    expect(threadName("x".repeat(60))).toBe(`${"x".repeat(40)}…`);
  });
});
