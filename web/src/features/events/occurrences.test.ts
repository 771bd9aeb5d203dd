import { describe, expect, it } from "vitest";

import { idAtTime } from "../../ui/times";
import { currentOccurrence, occurrencesOf, type RecurringEvent } from "./occurrences";

const START = "2030-01-31T18:00:00Z"; // a Thursday
const event = (rule: object | null, exceptions: object[] = []) =>
  ({
    id: "1",
    scheduled_start_time: START,
    scheduled_end_time: "2030-01-31T19:30:00Z",
    recurrence_rule: rule && { start: START, interval: 1, ...rule },
    guild_scheduled_event_exceptions: exceptions,
  }) as unknown as RecurringEvent;
const dates = (rule: object | null, count = 4) =>
  occurrencesOf(event(rule), count).map(({ start }) => new Date(start).toISOString().slice(0, 10));

describe("occurrences", () => {
  it("are one for an event that does not recur", () => {
    expect(dates(null)).toEqual(["2030-01-31"]);
  });

  it("follow the rule", () => {
    expect(dates({ frequency: 3 }, 3)).toEqual(["2030-01-31", "2030-02-01", "2030-02-02"]);
    expect(dates({ frequency: 3, by_weekday: [0, 1, 2, 3, 4] })).toEqual([
      "2030-01-31",
      "2030-02-01",
      "2030-02-04",
      "2030-02-05",
    ]);
    expect(dates({ frequency: 2, by_weekday: [3] }, 3)).toEqual(["2030-01-31", "2030-02-07", "2030-02-14"]);
    expect(dates({ frequency: 2, interval: 2, by_weekday: [3] }, 3)).toEqual([
      "2030-01-31",
      "2030-02-14",
      "2030-02-28",
    ]);
    expect(dates({ frequency: 1, by_n_weekday: [{ n: 5, day: 3 }] }, 3)).toEqual([
      "2030-01-31",
      "2030-05-30",
      "2030-08-29",
    ]);
    expect(dates({ frequency: 1 }, 3)).toEqual(["2030-01-31", "2030-03-31", "2030-05-31"]);
    expect(dates({ frequency: 0, by_month: [1], by_month_day: [31] }, 3)).toEqual([
      "2030-01-31",
      "2031-01-31",
      "2032-01-31",
    ]);
  });

  it("take place at other times, or not at all, where there are exceptions", () => {
    const exception = (day: string, fields: object) => ({
      event_id: "1",
      event_exception_id: idAtTime(Date.parse(`${day}T18:00:00Z`)),
      scheduled_start_time: null,
      scheduled_end_time: null,
      is_canceled: false,
      ...fields,
    });
    const exceptions = [
      exception("2030-01-31", { scheduled_start_time: "2030-01-31T20:00:00Z" }),
      exception("2030-02-01", { is_canceled: true }),
    ];
    const recurring = event({ frequency: 3 }, exceptions);
    const [moved, canceled, other] = occurrencesOf(recurring, 3);
    expect(moved).toEqual(currentOccurrence(recurring));
    expect(moved).toMatchObject({
      original: Date.parse(START),
      start: Date.parse("2030-01-31T20:00:00Z"),
      end: Date.parse("2030-01-31T21:30:00Z"),
      isCanceled: false,
    });
    expect(canceled).toMatchObject({ isCanceled: true, start: Date.parse("2030-02-01T18:00:00Z") });
    expect(other).toMatchObject({ isCanceled: false, exception: null });
  });
});
