import type { APIGuildScheduledEvent } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import {
  changedFields,
  draftOf,
  ELSEWHERE,
  fieldsOf,
  localInput,
  newDraft,
  parseLocal,
  problemOf,
} from "./fields";

const NOW = Date.parse("2026-03-17T18:20:00Z");
const EVENT = {
  name: "Moot",
  description: null,
  channel_id: "20",
  entity_metadata: null,
  scheduled_start_time: "2026-03-18T18:00:00Z",
  scheduled_end_time: null,
  recurrence_rule: null,
} as unknown as APIGuildScheduledEvent;

describe("the form of an event", () => {
  it("begins with the next full hour", () => {
    const draft = newDraft(["20"], NOW);
    expect(parseLocal(draft.start)).toBe(Date.parse("2026-03-17T19:00:00Z"));
    expect(draft.place).toBe("20");
    expect(newDraft([], NOW).place).toBe(ELSEWHERE);
  });

  it("needs a name, a start that is ahead, and an end after it", () => {
    const draft = { ...newDraft(["20"], NOW), name: "Moot" };
    expect(problemOf(draft, NOW)).toBeNull();
    expect(problemOf({ ...draft, name: " " }, NOW)).toBe("name");
    expect(problemOf({ ...draft, start: "" }, NOW)).toBe("start");
    expect(problemOf({ ...draft, start: localInput(NOW - 60_000) }, NOW)).toBe("past");
    expect(problemOf({ ...draft, start: localInput(NOW - 60_000) }, NOW, true)).toBeNull();
    expect(problemOf({ ...draft, end: draft.start }, NOW)).toBe("order");
  });

  it("needs a location and an end elsewhere", () => {
    const draft = { ...newDraft([], NOW), name: "Moot" };
    expect(problemOf(draft, NOW)).toBe("location");
    expect(problemOf({ ...draft, location: "The hall" }, NOW)).toBeNull();
    expect(problemOf({ ...draft, location: "The hall", end: "" }, NOW)).toBe("end");
  });

  it("says the kind of the place", () => {
    const draft = draftOf(EVENT);
    expect(fieldsOf(draft, 13)).toMatchObject({ entity_type: 1, channel_id: "20", entity_metadata: null });
    expect(fieldsOf(draft, 2).entity_type).toBe(2);
    expect(fieldsOf({ ...draft, place: ELSEWHERE, location: " Hall " }, undefined)).toMatchObject({
      entity_type: 3,
      channel_id: null,
      entity_metadata: { location: "Hall" },
    });
  });

  it("sends what was changed", () => {
    const draft = draftOf(EVENT);
    const changes = changedFields(fieldsOf(draft, 2), fieldsOf({ ...draft, name: "Thing" }, 2));
    expect(changes).toEqual({ name: "Thing" });
  });
});
