import { describe, expect, it } from "vitest";

import { timeOfId } from "../../ui/times";
import { dayOf, idBeforeDay } from "./days";

describe("days", () => {
  it("are those of the device's time zone", () => {
    expect(dayOf(new Date(2026, 0, 31, 23, 59).getTime())).toBe("2026-01-31");
  });

  it("begin after the last id of the day before", () => {
    const midnight = new Date(2026, 0, 31).getTime();
    const id = idBeforeDay("2026-01-31") ?? "";
    expect(timeOfId(id)).toBe(midnight - 1);
    expect(timeOfId(String(BigInt(id) + 1n))).toBe(midnight);
  });

  it("before the first id lead to the first one", () => {
    expect(idBeforeDay("1999-12-31")).toBe("0");
  });

  it("that do not exist are refused", () => {
    expect(idBeforeDay("2026-02-31")).toBeNull();
    expect(idBeforeDay("")).toBeNull();
  });
});
