import { describe, expect, it } from "vitest";

import { reduce } from "./reducers";
import { eventsOf } from "./scheduledEvents";
import { INITIAL_STATE, type State } from "./state";

const START: State = { ...INITIAL_STATE, user: { id: "1" } as State["user"] };
const event = (id: string, fields: object = {}) => ({
  id,
  guild_id: "7",
  status: 1,
  scheduled_start_time: `2030-01-0${id}T00:00:00Z`,
  ...fields,
});

describe("scheduled events", () => {
  it("are listed by their start, those that are on first", () => {
    let state = START;
    for (const each of [event("3"), event("2"), event("4", { status: 2 }), event("1", { guild_id: "8" })]) {
      state = reduce(state, "GUILD_SCHEDULED_EVENT_CREATE", each, 0);
    }
    expect(eventsOf(state.scheduledEvents, "7").map((each) => each.id)).toEqual(["4", "2", "3"]);
  });

  it("leave the list when they end, are cancelled or deleted", () => {
    for (const status of [3, 4]) {
      const state = reduce(START, "GUILD_SCHEDULED_EVENT_CREATE", event("1"), 0);
      expect(
        reduce(state, "GUILD_SCHEDULED_EVENT_UPDATE", event("1", { status }), 0).scheduledEvents,
      ).toEqual({});
    }
    const state = reduce(START, "GUILD_SCHEDULED_EVENT_CREATE", event("1"), 0);
    expect(reduce(state, "GUILD_SCHEDULED_EVENT_DELETE", event("1"), 0).scheduledEvents).toEqual({});
  });

  it("have exceptions, one for an occurrence, in the order of occurrences", () => {
    const exception = (id: string, canceled: boolean) => ({
      event_id: "1",
      event_exception_id: id,
      scheduled_start_time: null,
      scheduled_end_time: null,
      is_canceled: canceled,
    });
    const exceptionsOf = (state: State) =>
      (state.scheduledEvents["1"] as unknown as { guild_scheduled_event_exceptions: object[] })
        .guild_scheduled_event_exceptions;
    let state = reduce(START, "GUILD_SCHEDULED_EVENT_CREATE", event("1"), 0);
    for (const each of [exception("90", false), exception("100", true), exception("90", true)]) {
      state = reduce(state, "GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE", each, 0);
    }
    expect(exceptionsOf(state)).toEqual([exception("90", true), exception("100", true)]);
    const fewer = reduce(state, "GUILD_SCHEDULED_EVENT_EXCEPTION_DELETE", exception("90", true), 0);
    expect(exceptionsOf(fewer)).toEqual([exception("100", true)]);
    const none = reduce(
      state,
      "GUILD_SCHEDULED_EVENT_EXCEPTIONS_DELETE",
      { guild_id: "7", event_id: "1" },
      0,
    );
    expect(exceptionsOf(none)).toEqual([]);
    expect(reduce(START, "GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE", exception("90", true), 0)).toEqual(START);
  });

  it("count who is interested, each once, also when the user's own interest was shown before its event", () => {
    const change = { guild_scheduled_event_id: "1", user_id: "1", guild_id: "7" };
    let state = reduce(START, "GUILD_SCHEDULED_EVENT_CREATE", event("1", { user_count: 4 }), 0);
    state = reduce(state, "GUILD_SCHEDULED_EVENT_USER_ADD", change, 0);
    state = reduce(state, "GUILD_SCHEDULED_EVENT_USER_ADD", change, 0);
    state = reduce(state, "GUILD_SCHEDULED_EVENT_USER_ADD", { ...change, user_id: "2" }, 0);
    expect([state.scheduledEvents["1"]?.user_count, state.interests["1"]]).toEqual([6, true]);
    state = reduce(state, "GUILD_SCHEDULED_EVENT_USER_REMOVE", change, 0);
    expect([state.scheduledEvents["1"]?.user_count, state.interests["1"]]).toEqual([5, false]);
  });

  it("keep their count when an update leaves it out", () => {
    let state = reduce(START, "GUILD_SCHEDULED_EVENT_CREATE", event("1", { user_count: 4 }), 0);
    state = reduce(state, "GUILD_SCHEDULED_EVENT_UPDATE", event("1", { name: "new" }), 0);
    expect(state.scheduledEvents["1"]).toMatchObject({ name: "new", user_count: 4 });
  });
});
