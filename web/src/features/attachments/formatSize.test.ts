import { describe, expect, it } from "vitest";

import { formatSize } from "./formatSize";

describe("the size of a file", () => {
  it("is in the largest unit that fits, in the plural where there is one", () => {
    expect([0, 1, 44, 1500, 2_000_000].map(formatSize)).toEqual([
      "0 bytes",
      "1 byte",
      "44 bytes",
      "1.5 kB",
      "2 MB",
    ]);
  });
});
