import type {
  APIGuildScheduledEvent,
  GatewayGuildScheduledEventUserAddDispatchData,
} from "discord-api-types/v10";

import type { EventException } from "../api/events";
import { compareIds, updateEntry, withEntry, withoutEntry, type ReadonlyRecord } from "./records";
import type { State } from "./state";

/** The statuses in which an event is listed. */
const SCHEDULED = 1;
const ACTIVE = 2;

/** Add or change an event; one that has ended or was cancelled is removed. */
export function putScheduledEvent(state: State, event: APIGuildScheduledEvent): State {
  const status: number = event.status;
  if (status !== SCHEDULED && status !== ACTIVE) {
    return removeScheduledEvent(state, event);
  }
  const before = state.scheduledEvents[event.id];
  const count = event.user_count ?? before?.user_count;
  const creator = event.creator ?? before?.creator;
  const shown = { ...event, ...(count !== undefined && { user_count: count }), ...(creator && { creator }) };
  return { ...state, scheduledEvents: withEntry(state.scheduledEvents, event.id, shown) };
}

export function removeScheduledEvent(state: State, event: { id: string }): State {
  return {
    ...state,
    scheduledEvents: withoutEntry(state.scheduledEvents, event.id),
    interests: withoutEntry(state.interests, event.id),
  };
}

/** Add the exception of an occurrence, replacing the one that it has. */
export function putException(state: State, exception: EventException): State {
  return withExceptions(state, exception.event_id, (listed) =>
    [...without(listed, exception), exception].sort((a, b) =>
      compareIds(a.event_exception_id, b.event_exception_id),
    ),
  );
}

export function removeException(state: State, exception: EventException): State {
  return withExceptions(state, exception.event_id, (listed) => without(listed, exception));
}

export function removeExceptions(state: State, data: { event_id: string }): State {
  return withExceptions(state, data.event_id, () => []);
}

function without(listed: readonly EventException[], { event_exception_id: id }: EventException) {
  return listed.filter((each) => each.event_exception_id !== id);
}

function withExceptions(
  state: State,
  eventId: string,
  change: (listed: readonly EventException[]) => readonly EventException[],
): State {
  return {
    ...state,
    scheduledEvents: updateEntry(state.scheduledEvents, eventId, (event) => {
      const { guild_scheduled_event_exceptions: listed } = event as {
        guild_scheduled_event_exceptions?: readonly EventException[];
      };
      return { ...event, guild_scheduled_event_exceptions: change(listed ?? []) };
    }),
  };
}

/** Count a user who is interested in an event, or no longer. */
export function countInterest(
  state: State,
  data: Pick<GatewayGuildScheduledEventUserAddDispatchData, "guild_scheduled_event_id" | "user_id">,
  interested: boolean,
): State {
  const id = data.guild_scheduled_event_id;
  const isOwn = data.user_id === state.user?.id;
  if (isOwn && state.interests[id] === interested) {
    return state;
  }
  return {
    ...state,
    scheduledEvents: updateEntry(state.scheduledEvents, id, (event) => ({
      ...event,
      user_count: Math.max(0, (event.user_count ?? 0) + (interested ? 1 : -1)),
    })),
    interests: isOwn ? withEntry(state.interests, id, interested) : state.interests,
  };
}

/** Set whether the user is interested in an event, as the server says it. */
export function setInterest(state: State, eventId: string, interested: boolean): State {
  return { ...state, interests: withEntry(state.interests, eventId, interested) };
}

/** The events of a guild: those that are on first, then by their start. */
export function eventsOf(
  events: ReadonlyRecord<APIGuildScheduledEvent>,
  guildId: string,
): APIGuildScheduledEvent[] {
  return Object.values(events)
    .filter((event) => event.guild_id === guildId)
    .sort(
      (a, b) =>
        Number(isActive(b)) - Number(isActive(a)) ||
        Date.parse(a.scheduled_start_time) - Date.parse(b.scheduled_start_time),
    );
}

export function isActive(event: APIGuildScheduledEvent): boolean {
  return (event.status as number) === ACTIVE;
}
