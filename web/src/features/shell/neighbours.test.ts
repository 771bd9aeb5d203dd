import { describe, expect, it } from "vitest";

import { neighbour, neighbourIn } from "./neighbours";

describe("neighbours", () => {
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
