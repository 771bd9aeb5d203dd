import { describe, expect, it } from "vitest";

import { OverwriteType } from "../../api/enums";
import { sameOverwrites } from "./sameOverwrites";

const overwrite = (id: string, allow: string, deny: string) => ({
  id,
  type: OverwriteType.Role,
  allow,
  deny,
});

describe("permissions of a channel and its category", () => {
  it("are the same in any order, and without those that change nothing", () => {
    const a = [overwrite("1", "8", "0"), overwrite("2", "0", "4")];
    expect(
      sameOverwrites(a, [overwrite("2", "0", "4"), overwrite("3", "0", "0"), overwrite("1", "8", "0")]),
    ).toBe(true);
    expect(sameOverwrites(a, [overwrite("1", "8", "0")])).toBe(false);
    expect(sameOverwrites(a, [overwrite("1", "8", "0"), overwrite("2", "4", "0")])).toBe(false);
  });
});
