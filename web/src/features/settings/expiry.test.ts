import { describe, expect, it } from "vitest";

import { expiresAt } from "./expiry";

describe("the end of a custom status", () => {
  const now = new Date(2026, 4, 31, 22, 15);

  it("is a time from now, or the coming midnight", () => {
    expect(expiresAt("never", now)).toBeNull();
    expect(expiresAt("30m", now)).toBe(new Date(2026, 4, 31, 22, 45).toISOString());
    expect(expiresAt("4h", now)).toBe(new Date(2026, 5, 1, 2, 15).toISOString());
    expect(expiresAt("today", now)).toBe(new Date(2026, 5, 1).toISOString());
  });
});
