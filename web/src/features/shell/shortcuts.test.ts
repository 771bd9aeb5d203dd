import { describe, expect, it } from "vitest";

import { actionOf, neighbour, neighbourIn } from "./shortcuts";

function press(key: string, ...held: ("ctrlKey" | "metaKey" | "altKey" | "shiftKey")[]) {
  const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
  return { key, ...none, ...Object.fromEntries(held.map((each) => [each, true])) };
}

describe("shortcuts", () => {
  it("are told from other keys", () => {
    expect(actionOf(press("k", "ctrlKey"))).toBe("switcher");
    expect(actionOf(press("K", "metaKey"))).toBe("switcher");
    expect(actionOf(press("/", "ctrlKey", "shiftKey"))).toBe("shortcuts");
    expect(actionOf(press("ArrowDown", "altKey"))).toBe("nextChannel");
    expect(actionOf(press("ArrowDown", "altKey", "shiftKey"))).toBe("nextUnread");
    expect(actionOf(press("ArrowDown", "altKey", "ctrlKey"))).toBe("nextGuild");
    expect(actionOf(press("Escape"))).toBe("markRead");
    expect([
      actionOf(press("k")),
      actionOf(press("k", "ctrlKey", "shiftKey")),
      actionOf(press("ArrowDown")),
    ]).toEqual([null, null, null]);
  });

  it("lead around the ends of a list", () => {
    expect(neighbour(["a", "b", "c"], "c", 1)).toBe("a");
    expect(neighbour(["a", "b", "c"], "a", -1)).toBe("c");
    expect(neighbour(["a", "b", "c"], null, 1)).toBe("a");
    expect(neighbour(["a", "b", "c"], null, -1)).toBe("c");
    expect(neighbour([], "a", 1)).toBeNull();
  });

  it("lead to the next unread one", () => {
    const unread = (id: string) => id === "a" || id === "d";
    expect(neighbourIn(["a", "b", "c", "d"], "b", 1, unread)).toBe("d");
    expect(neighbourIn(["a", "b", "c", "d"], "b", -1, unread)).toBe("a");
    expect(neighbourIn(["a", "b", "c", "d"], "d", 1, unread)).toBe("a");
    expect(neighbourIn(["a", "b"], null, 1, unread)).toBe("a");
    expect(neighbourIn(["b", "d"], null, -1, unread)).toBe("d");
    expect(neighbourIn(["b"], "b", 1, unread)).toBeNull();
  });
});
