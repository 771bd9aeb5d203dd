import type { APIGuildScheduledEvent } from "discord-api-types/v10";

import type { EventFields } from "../../api/events";
import { recurrenceOf, ruleOf, type Recurrence } from "./recurrence";

export const MAX_NAME = 100;
export const MAX_DESCRIPTION = 1000;
export const MAX_LOCATION = 100;
/** The choice of a place that is no channel. */
export const ELSEWHERE = "elsewhere";
const EXTERNAL = 3;
const STAGE_CHANNEL = 13;
const HOUR_MS = 3_600_000;

/** An event as a form has it: times in the time zone of the device. */
export interface EventDraft {
  name: string;
  description: string;
  /** The id of a channel, or `ELSEWHERE`. */
  place: string;
  location: string;
  start: string;
  end: string;
  recurrence: Recurrence;
  /** A data URI of a new picture, null for none, undefined for the one that it has. */
  image: string | null | undefined;
}

/** What a new event begins with: the next full hour, in the first channel. */
export function newDraft(channelIds: readonly string[], now: number): EventDraft {
  const start = Math.ceil((now + 1) / HOUR_MS) * HOUR_MS;
  return {
    name: "",
    description: "",
    place: channelIds[0] ?? ELSEWHERE,
    location: "",
    start: localInput(start),
    end: channelIds.length > 0 ? "" : localInput(start + HOUR_MS),
    recurrence: "none",
    image: undefined,
  };
}

export function draftOf(event: APIGuildScheduledEvent): EventDraft {
  const { scheduled_end_time: end } = event;
  return {
    name: event.name,
    description: event.description ?? "",
    place: event.channel_id ?? ELSEWHERE,
    location: event.entity_metadata?.location ?? "",
    start: localInput(Date.parse(event.scheduled_start_time)),
    end: end === null ? "" : localInput(Date.parse(end)),
    recurrence: recurrenceOf(event.recurrence_rule),
    image: undefined,
  };
}

export type EventProblem = "name" | "location" | "start" | "past" | "end" | "order";

/** Why a draft cannot be saved; null if it can. The start of an event that has begun stays as it is. */
export function problemOf(draft: EventDraft, now: number, hasBegun = false): EventProblem | null {
  const start = parseLocal(draft.start);
  const end = parseLocal(draft.end);
  if (draft.name.trim() === "") {
    return "name";
  }
  if (draft.place === ELSEWHERE && draft.location.trim() === "") {
    return "location";
  }
  if (start === null) {
    return "start";
  }
  if (!hasBegun && start <= now) {
    return "past";
  }
  if (end === null) {
    return draft.place === ELSEWHERE ? "end" : null;
  }
  return end <= start ? "order" : null;
}

export type MoveProblem = "start" | "past" | "order";

/** The times of a moved occurrence, from fields as a form has them; or why they cannot be saved. */
export function movedTimes(
  startField: string,
  endField: string,
  now: number,
): { scheduled_start_time: string; scheduled_end_time: string | null } | MoveProblem {
  const start = parseLocal(startField);
  const end = parseLocal(endField);
  if (start === null) {
    return "start";
  }
  if (start <= now) {
    return "past";
  }
  if (end !== null && end <= start) {
    return "order";
  }
  return {
    scheduled_start_time: new Date(start).toISOString(),
    scheduled_end_time: end === null ? null : new Date(end).toISOString(),
  };
}

/** The fields of a draft without problems. `channelType` is that of its place. */
export function fieldsOf(draft: EventDraft, channelType: number | undefined): EventFields {
  const start = new Date(parseLocal(draft.start) ?? 0);
  const end = parseLocal(draft.end);
  const isElsewhere = draft.place === ELSEWHERE;
  return {
    name: draft.name.trim(),
    description: draft.description.trim() || null,
    entity_type: isElsewhere ? EXTERNAL : channelType === STAGE_CHANNEL ? 1 : 2,
    channel_id: isElsewhere ? null : draft.place,
    entity_metadata: isElsewhere ? { location: draft.location.trim() } : null,
    scheduled_start_time: start.toISOString(),
    scheduled_end_time: end === null ? null : new Date(end).toISOString(),
    recurrence_rule: ruleOf(draft.recurrence, start),
    ...(draft.image !== undefined && { image: draft.image }),
  };
}

/** The fields that differ from those of the stored event. */
export function changedFields(before: EventFields, after: EventFields): Partial<EventFields> {
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof EventFields]),
  );
  return Object.fromEntries(changed);
}

/** A moment as a field for date and time has it, in the time zone of the device. */
export function localInput(time: number): string {
  const date = new Date(time);
  return new Date(time - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** The moment of such a field in milliseconds; null for an empty or incomplete one. */
export function parseLocal(value: string): number | null {
  const time = value === "" ? NaN : new Date(value).getTime();
  return Number.isNaN(time) ? null : time;
}
