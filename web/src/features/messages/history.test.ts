import { describe, expect, it } from "vitest";

import { edgesAround } from "./history";

const page = (older: number, newer: number) =>
  Array.from({ length: older + newer + 1 }, (_each, index) => ({ id: String(1000 + newer - index) }));

describe("a page around a message", () => {
  it("has nothing beyond it where a half is not full", () => {
    expect(edgesAround(page(3, 2), "1000")).toEqual({ hasOlder: false, hasNewer: false });
  });

  it("may have messages beyond full halves, whichever half has the message itself", () => {
    expect(edgesAround(page(24, 25), "1000")).toEqual({ hasOlder: true, hasNewer: true });
    expect(edgesAround(page(25, 24), "1000")).toEqual({ hasOlder: true, hasNewer: true });
    expect(edgesAround(page(24, 3), "1000")).toEqual({ hasOlder: true, hasNewer: false });
  });
});
