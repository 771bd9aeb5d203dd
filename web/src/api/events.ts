import type { APIGuildScheduledEvent, APIGuildScheduledEventUser, APIUser } from "discord-api-types/v10";

import { idAtTime } from "../ui/times";
import type { ApiClient } from "./client";

/** A rule as it is set; servers take a few combinations only. */
export interface RecurrenceInput {
  start: string;
  /** 0 yearly, 1 monthly, 2 weekly, 3 daily. */
  frequency: number;
  interval: number;
  /** 0 for Monday, in UTC as everything here. */
  by_weekday?: readonly number[];
  by_n_weekday?: readonly { n: number; day: number }[];
  by_month?: readonly number[];
  by_month_day?: readonly number[];
}

/** The fields of an event that are set; times in ISO 8601. */
export interface EventFields {
  name: string;
  description: string | null;
  /** 1 stage, 2 voice channel, 3 elsewhere. */
  entity_type: number;
  channel_id: string | null;
  entity_metadata: { location: string } | null;
  scheduled_start_time: string;
  scheduled_end_time: string | null;
  recurrence_rule: RecurrenceInput | null;
  /** A data URI. */
  image?: string | null;
}

const GUILD_ONLY = 2;

function eventPath(event: { guild_id: string; id: string }): string {
  return `/guilds/${event.guild_id}/scheduled-events/${event.id}`;
}

/** The events of a guild that have not ended, with the number of those who are interested. */
export function listEvents(api: ApiClient, guildId: string): Promise<APIGuildScheduledEvent[]> {
  return api.request("GET", `/guilds/${guildId}/scheduled-events`, { query: { with_user_count: true } });
}

export function getEvent(api: ApiClient, guildId: string, id: string): Promise<APIGuildScheduledEvent> {
  return api.request("GET", eventPath({ guild_id: guildId, id }), { query: { with_user_count: true } });
}

export function createEvent(
  api: ApiClient,
  guildId: string,
  fields: EventFields,
): Promise<APIGuildScheduledEvent> {
  const body = { ...fields, privacy_level: GUILD_ONLY };
  return api.request("POST", `/guilds/${guildId}/scheduled-events`, { body });
}

/** Change fields of an event, or start (2), end (3) or cancel (4) it by its status. */
export function modifyEvent(
  api: ApiClient,
  event: { guild_id: string; id: string },
  changes: Partial<EventFields> & { status?: number },
): Promise<APIGuildScheduledEvent> {
  return api.request("PATCH", eventPath(event), { body: changes });
}

/** The exception of one occurrence; its id is the moment that the rule has. */
export interface EventException {
  event_id: string;
  event_exception_id: string;
  scheduled_start_time: string | null;
  scheduled_end_time: string | null;
  is_canceled: boolean;
}

/** Move or cancel the occurrence that starts by the rule at a moment in milliseconds. */
export function putException(
  api: ApiClient,
  event: { guild_id: string; id: string },
  original: number,
  fields: Partial<Omit<EventException, "event_id" | "event_exception_id">>,
): Promise<EventException> {
  const body = { original_scheduled_start_time: new Date(original).toISOString(), ...fields };
  return api.request("POST", `${eventPath(event)}/exceptions`, { body });
}

export function deleteException(
  api: ApiClient,
  event: { guild_id: string; id: string },
  exceptionId: string,
): Promise<unknown> {
  return api.request("DELETE", `${eventPath(event)}/exceptions/${exceptionId}`);
}

export function setInterested(
  api: ApiClient,
  event: { guild_id: string; id: string },
  interested: boolean,
): Promise<unknown> {
  return api.request(interested ? "PUT" : "DELETE", `${eventPath(event)}/users/@me`);
}

/** A user with their response to one occurrence: 1 is interested, 0 is not. */
export interface OccurrenceResponse {
  user: APIUser;
  response: number;
}

/** A page of those who have responded to the occurrence that starts by the rule at a moment in milliseconds, by ascending id. */
export function getResponses(
  api: ApiClient,
  event: { guild_id: string; id: string },
  original: number,
  after: string,
  limit: number,
): Promise<OccurrenceResponse[]> {
  return api.request("GET", `${eventPath(event)}/${idAtTime(original)}/users`, { query: { after, limit } });
}

/** A page of those who are interested, by ascending id. */
export function getInterested(
  api: ApiClient,
  event: { guild_id: string; id: string },
  after: string,
  limit: number,
): Promise<APIGuildScheduledEventUser[]> {
  return api.request("GET", `${eventPath(event)}/users`, { query: { after, limit, with_member: true } });
}
