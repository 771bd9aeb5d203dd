import type { RecurrenceInput } from "../../api/events";

/** How an event recurs, as it is chosen. */
export type Recurrence = "none" | "daily" | "weekdays" | "weekly" | "biweekly" | "monthly" | "yearly";

export const RECURRENCES: readonly Recurrence[] = [
  "none",
  "daily",
  "weekdays",
  "weekly",
  "biweekly",
  "monthly",
  "yearly",
];

const YEARLY = 0;
const MONTHLY = 1;
const WEEKLY = 2;
const DAILY = 3;
const WORKING_DAYS = [0, 1, 2, 3, 4];

/** The rule of a choice for an event that starts at a moment. Rules are in UTC, choices in the device's time zone. */
export function ruleOf(recurrence: Recurrence, start: Date): RecurrenceInput | null {
  const rule = { start: start.toISOString(), interval: 1 };
  const day = weekdayOf(start.getUTCDay());
  switch (recurrence) {
    case "none":
      return null;
    case "daily":
      return { ...rule, frequency: DAILY };
    case "weekdays": {
      // Monday in the evening may be Tuesday in UTC, and in the morning Sunday.
      const shift = day - weekdayOf(start.getDay());
      return { ...rule, frequency: DAILY, by_weekday: WORKING_DAYS.map((each) => (each + shift + 7) % 7) };
    }
    case "weekly":
      return { ...rule, frequency: WEEKLY, by_weekday: [day] };
    case "biweekly":
      return { ...rule, frequency: WEEKLY, interval: 2, by_weekday: [day] };
    case "monthly":
      return { ...rule, frequency: MONTHLY, by_n_weekday: [{ n: weekOfMonth(start), day }] };
    case "yearly":
      return {
        ...rule,
        frequency: YEARLY,
        by_month: [start.getUTCMonth() + 1],
        by_month_day: [start.getUTCDate()],
      };
  }
}

interface StoredRule {
  frequency: number;
  interval: number;
  by_weekday?: readonly number[] | null;
}

/** The choice that a rule comes from. */
export function recurrenceOf(rule: StoredRule | null | undefined): Recurrence {
  if (!rule) {
    return "none";
  }
  switch (rule.frequency) {
    case YEARLY:
      return "yearly";
    case MONTHLY:
      return "monthly";
    case WEEKLY:
      return rule.interval === 2 ? "biweekly" : "weekly";
    default:
      return rule.by_weekday?.length === WORKING_DAYS.length ? "weekdays" : "daily";
  }
}

/** Of the day's weekday in its month, from 1 to 5. */
export function weekOfMonth(date: Date): number {
  return Math.ceil(date.getUTCDate() / 7);
}

/** JavaScript's weeks begin on Sunday, those of rules on Monday. */
function weekdayOf(day: number): number {
  return (day + 6) % 7;
}
