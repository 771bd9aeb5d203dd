import type { APIGuildScheduledEvent } from "discord-api-types/v10";

import type { EventException } from "../../api/events";
import { timeOfId } from "../../ui/times";

const DAY_MS = 86_400_000;
const MONTHS_A_YEAR = 12;
const DAYS_A_WEEK = 7;
/** Rules are not followed for longer: a leap day recurs at most eight years later. */
const MAX_DAYS = 366 * 41;

/** An event whose rule and exceptions are known. */
export type RecurringEvent = Pick<
  APIGuildScheduledEvent,
  "id" | "scheduled_start_time" | "scheduled_end_time" | "recurrence_rule"
> & { guild_scheduled_event_exceptions?: readonly EventException[] };

/** One occurrence of an event; times in milliseconds. */
export interface Occurrence {
  /** When it starts by the rule. */
  original: number;
  start: number;
  end: number | null;
  isCanceled: boolean;
  exception: EventException | null;
}

interface Rule {
  start: string;
  frequency: number;
  interval: number;
  by_weekday?: readonly number[] | null;
  by_n_weekday?: readonly { n: number; day: number }[] | null;
  by_month?: readonly number[] | null;
  by_month_day?: readonly number[] | null;
}

/** The current occurrence of an event and those that follow it, at most `count`; one for an event that does not recur. */
export function occurrencesOf(event: RecurringEvent, count: number): Occurrence[] {
  const first = Date.parse(event.scheduled_start_time);
  const rule: Rule | null = event.recurrence_rule;
  const moments = [first];
  for (let day = 1; rule !== null && moments.length < count && day <= MAX_DAYS; day++) {
    const moment = first + day * DAY_MS;
    if (matches(rule, new Date(rule.start), new Date(moment))) {
      moments.push(moment);
    }
  }
  return moments.map((moment) => occurrenceAt(event, moment));
}

/** The current occurrence of an event. */
export function currentOccurrence(event: RecurringEvent): Occurrence {
  return occurrenceAt(event, Date.parse(event.scheduled_start_time));
}

function occurrenceAt(event: RecurringEvent, original: number): Occurrence {
  const listed = event.guild_scheduled_event_exceptions ?? [];
  const exception = listed.find((each) => timeOfId(each.event_exception_id) === original) ?? null;
  const start = timeOr(exception?.scheduled_start_time, original);
  const length =
    event.scheduled_end_time === null
      ? null
      : Date.parse(event.scheduled_end_time) - Date.parse(event.scheduled_start_time);
  return {
    original,
    start,
    end: timeOr(exception?.scheduled_end_time, length === null ? null : start + length),
    isCanceled: exception?.is_canceled ?? false,
    exception,
  };
}

function timeOr<T>(text: string | null | undefined, otherwise: T): number | T {
  return text ? Date.parse(text) : otherwise;
}

/** Whether a rule has an occurrence on the day of a moment, in UTC. */
function matches(rule: Rule, start: Date, moment: Date): boolean {
  const weekday = weekdayOf(moment);
  switch (rule.frequency) {
    case 0:
      return (
        (moment.getUTCFullYear() - start.getUTCFullYear()) % rule.interval === 0 &&
        (rule.by_month ?? [start.getUTCMonth() + 1]).includes(moment.getUTCMonth() + 1) &&
        (rule.by_month_day ?? [start.getUTCDate()]).includes(moment.getUTCDate())
      );
    case 1: {
      const week = Math.ceil(moment.getUTCDate() / DAYS_A_WEEK);
      return (
        (monthOf(moment) - monthOf(start)) % rule.interval === 0 &&
        (rule.by_n_weekday
          ? rule.by_n_weekday.some(({ n, day }) => n === week && day === weekday)
          : moment.getUTCDate() === start.getUTCDate())
      );
    }
    case 2:
      return (
        ((dayOf(moment) - weekday - dayOf(start) + weekdayOf(start)) / DAYS_A_WEEK) % rule.interval === 0 &&
        (rule.by_weekday ?? [weekdayOf(start)]).includes(weekday)
      );
    default:
      return (
        (dayOf(moment) - dayOf(start)) % rule.interval === 0 && (rule.by_weekday?.includes(weekday) ?? true)
      );
  }
}

function dayOf(date: Date): number {
  return Math.floor(date.getTime() / DAY_MS);
}

function monthOf(date: Date): number {
  return date.getUTCFullYear() * MONTHS_A_YEAR + date.getUTCMonth();
}

/** 0 for Monday, as in rules. */
function weekdayOf(date: Date): number {
  return (date.getUTCDay() + 6) % DAYS_A_WEEK;
}
