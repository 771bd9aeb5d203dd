import { describe, expect, it } from "vitest";

import { isEmpty, NO_FILTERS, readOperators, searchQuery, type Names } from "./filters";

const NAMES: Names = {
  user: (name) => ({ ada: "1", "Ben B": "2" })[name] ?? null,
  channel: (name) => (name === "general" ? "9" : null),
};

function read(content: string) {
  return readOperators({ ...NO_FILTERS, content }, NAMES);
}

describe("a search", () => {
  it("has filters that are typed, and text", () => {
    expect(read('from:ada from:"Ben B" some words in:#general has:image pinned:true')).toEqual({
      ...NO_FILTERS,
      content: "some words",
      authorIds: ["1", "2"],
      channelIds: ["9"],
      has: ["image"],
      pinned: true,
    });
  });

  it("keeps as text what is no filter", () => {
    expect(read("from:nobody has:money before:soon http://in:x").content).toBe(
      "from:nobody has:money before:soon http://in:x",
    );
    expect(isEmpty(read("  "))).toBe(true);
    expect(isEmpty(read("mentions:ada"))).toBe(false);
  });

  it("asks for days by the ids of their moments", () => {
    const idOf = (date: Date) => (BigInt(date.getTime() - 1_420_070_400_000) << 22n).toString();
    expect(searchQuery(read("during:2026-03-05"), 25)).toMatchObject({
      min_id: idOf(new Date(2026, 2, 5)),
      max_id: idOf(new Date(2026, 2, 6)),
      offset: 25,
    });
    expect(searchQuery(read("after:2026-12-31"), 0)).toMatchObject({
      min_id: idOf(new Date(2027, 0, 1)),
      max_id: undefined,
    });
    expect(searchQuery(read("before:2026-02-31"), 0)).toMatchObject({ max_id: undefined });
  });

  it("is sorted by time or by relevance", () => {
    const sorted = (sort: "newest" | "oldest" | "relevance") => {
      const { sort_by: by, sort_order: order } = searchQuery({ ...NO_FILTERS, sort }, 0);
      return `${by} ${order}`;
    };
    expect([sorted("newest"), sorted("oldest"), sorted("relevance")]).toEqual([
      "timestamp desc",
      "timestamp asc",
      "relevance desc",
    ]);
  });
});
