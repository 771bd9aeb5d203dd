import { describe, expect, it } from "vitest";

import { RECURRENCES, recurrenceOf, ruleOf } from "./recurrence";

/** A Tuesday, the third one of its month. */
const START = new Date("2026-03-17T18:00:00Z");

describe("the rule of an event that recurs", () => {
  it("names the day of its start", () => {
    expect(ruleOf("weekly", START)).toMatchObject({ frequency: 2, interval: 1, by_weekday: [1] });
    expect(ruleOf("biweekly", START)).toMatchObject({ frequency: 2, interval: 2, by_weekday: [1] });
    expect(ruleOf("monthly", START)).toMatchObject({ frequency: 1, by_n_weekday: [{ n: 3, day: 1 }] });
    expect(ruleOf("yearly", START)).toMatchObject({ frequency: 0, by_month: [3], by_month_day: [17] });
  });

  it("has the working days of the device's time zone in UTC", () => {
    const shifted = new Date(START);
    // Still Monday where the device is.
    shifted.getDay = () => 1;
    expect(ruleOf("weekdays", shifted)?.by_weekday).toEqual([1, 2, 3, 4, 5]);
    shifted.getDay = () => 3;
    expect(ruleOf("weekdays", shifted)?.by_weekday).toEqual([6, 0, 1, 2, 3]);
  });

  it("leads back to what was chosen", () => {
    for (const recurrence of RECURRENCES) {
      expect(recurrenceOf(ruleOf(recurrence, START))).toBe(recurrence);
    }
  });
});
