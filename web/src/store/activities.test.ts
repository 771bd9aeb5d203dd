import { expect, test } from "vitest";

import { activityUpdate, guildActivities, ownActivity } from "./activities";
import type { ActivityInstance } from "./entities";
import { INITIAL_STATE, type State } from "./state";

function instance(id: string, sessions: readonly string[], guildId?: string): ActivityInstance {
  return {
    application_id: "1",
    composite_instance_id: `i-${id}`,
    instance_id: id,
    location: { id: "gc-3-2", channel_id: "2", ...(guildId !== undefined && { guild_id: guildId }) },
    participants: sessions.map((session) => ({ user_id: `user ${session}`, session_id: session })),
  };
}

const STATE = { ...INITIAL_STATE, sessionId: "mine", channels: { "2": {} } } as unknown as State;

test("an instance without participants has ended", () => {
  const started = activityUpdate(STATE, instance("7", ["other"]));
  expect(Object.keys(started.activities)).toEqual(["7"]);
  expect(activityUpdate(started, instance("7", [])).activities).toEqual({});
});

test("the own instance is the one with this client's session, while its channel is in reach", () => {
  const others = activityUpdate(STATE, instance("7", ["other"]));
  expect(ownActivity(others)).toBeNull();
  const joined = activityUpdate(others, instance("8", ["other", "mine"]));
  expect(ownActivity(joined)?.instance_id).toBe("8");
  expect(ownActivity({ ...joined, channels: {} })).toBeNull();
});

test("the list of a guild replaces its instances and no others", () => {
  const state = activityUpdate(activityUpdate(STATE, instance("7", ["a"], "3")), instance("8", ["b"]));
  expect(Object.keys(guildActivities(state, "3", [instance("9", ["c"], "3")])).sort()).toEqual(["8", "9"]);
});
