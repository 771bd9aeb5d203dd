import { describe, expect, it } from "vitest";

import type { FigureSample } from "../../api/operations";
import { filled } from "./figures";

function sample(start: string): FigureSample {
  return {
    start,
    users: 1,
    guilds: 1,
    file_bytes: 0,
    messages: 0,
    requests: 0,
    errors: 0,
    median_ms: null,
    p99_ms: null,
  };
}

describe("filled", () => {
  it("has a gap for each hour that the server was down", () => {
    const before = sample("2026-01-01T10:00:00.000000+00:00");
    const after = sample("2026-01-01T13:00:00.000000+00:00");
    expect(filled([before, after], "hour")).toEqual([before, null, null, after]);
  });

  it("has no gap between days", () => {
    const samples = ["01", "02", "03"].map((day) => sample(`2026-01-${day}T00:00:00.000000+00:00`));
    expect(filled(samples, "day")).toEqual(samples);
  });
});
