import type { APIMessage } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { collapseBlocked } from "./blocked";

const row = (id: string, authorId: string) => ({
  kind: "message" as const,
  key: id,
  message: { id, author: { id: authorId } } as APIMessage,
});
const isBlocked = (userId: string) => userId === "b";
const rows = [row("1", "a"), row("2", "b"), row("3", "b"), row("4", "a"), row("5", "b")];

describe("messages of blocked users", () => {
  it("stand in one row as long as they follow each other", () => {
    const collapsed = collapseBlocked(rows, isBlocked, new Set());
    expect(collapsed.map((each) => each.key)).toEqual(["1", "blocked 2", "4", "blocked 5"]);
    expect(collapsed[1]).toMatchObject({ count: 2, expanded: false });
  });

  it("show below their row once it is expanded", () => {
    const collapsed = collapseBlocked(rows, isBlocked, new Set(["blocked 2"]));
    expect(collapsed.map((each) => each.key)).toEqual(["1", "blocked 2", "2", "3", "4", "blocked 5"]);
  });
});
