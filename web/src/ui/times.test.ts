import { describe, expect, it } from "vitest";

import { clockOf } from "./times";

describe("clockOf", () => {
  it("has hours only where there are some", () => {
    expect([9, 65, 3_905].map(clockOf)).toEqual(["0:09", "1:05", "1:05:05"]);
  });
});
