import type { APIUser } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { reduce } from "./reducers";
import { filterRelationships, incomingRequestCount, isBlocked, RelationshipType } from "./relationships";
import { INITIAL_STATE, type State } from "./state";

const user = (id: string, username: string) => ({ id, username, global_name: null }) as APIUser;
const relationship = (id: string, type: number, username: string) => ({
  id,
  type,
  nickname: null,
  user_ignored: false,
  since: "2026-01-01T00:00:00Z",
  user: user(id, username),
});
const ready = {
  user: user("1", "me"),
  guilds: [],
  session_id: "s",
  relationships: [
    relationship("2", RelationshipType.Friend, "zoe"),
    relationship("3", RelationshipType.Friend, "ben"),
    relationship("4", RelationshipType.Outgoing, "cat"),
    relationship("5", RelationshipType.Incoming, "dan"),
  ],
  presences: [{ user: { id: "2" }, status: "idle", activities: [] }],
  notes: { "3": "met at the fair" },
};
const apply = (state: State, name: string, data: unknown) => reduce(state, name, data, 0);
const names = (state: State, filter: Parameters<typeof filterRelationships>[1]) =>
  filterRelationships(state, filter).map((each) => each.user.username);

describe("relationships", () => {
  const state = apply(INITIAL_STATE, "READY", ready);

  it("are listed by name, with requests to the user before theirs", () => {
    expect(names(state, "all")).toEqual(["ben", "zoe"]);
    expect(names(state, "online")).toEqual(["zoe"]);
    expect(names(state, "pending")).toEqual(["dan", "cat"]);
    expect(incomingRequestCount(state)).toBe(1);
    expect(state.notes).toEqual({ "3": "met at the fair" });
  });

  it("change with the events of the gateway", () => {
    const accepted = apply(state, "RELATIONSHIP_ADD", relationship("5", RelationshipType.Friend, "dan"));
    expect(names(accepted, "all")).toEqual(["ben", "dan", "zoe"]);
    const named = apply(accepted, "RELATIONSHIP_UPDATE", {
      ...relationship("5", RelationshipType.Friend, "dan"),
      user: undefined,
      nickname: "Zzz",
    });
    expect(names(named, "all")).toEqual(["ben", "zoe", "dan"]);
    const ended = apply(named, "RELATIONSHIP_REMOVE", { id: "5" });
    expect(names(ended, "all")).toEqual(["ben", "zoe"]);
    const blocked = apply(ended, "RELATIONSHIP_ADD", relationship("2", RelationshipType.Blocked, "zoe"));
    expect(isBlocked(blocked, "2")).toBe(true);
    expect(names(blocked, "blocked")).toEqual(["zoe"]);
  });

  it("go offline with their presences", () => {
    const offline = apply(state, "PRESENCE_UPDATE", { user: { id: "2" }, status: "offline", activities: [] });
    expect(names(offline, "online")).toEqual([]);
  });

  it("have notes until they are emptied", () => {
    const noted = apply(state, "USER_NOTE_UPDATE", { id: "2", note: "likes tea" });
    expect(noted.notes["2"]).toBe("likes tea");
    expect(apply(noted, "USER_NOTE_UPDATE", { id: "2", note: "" }).notes["2"]).toBeUndefined();
  });
});

describe("groups", () => {
  it("gain and lose recipients", () => {
    const group = { id: "9", type: 3, recipients: [user("2", "zoe")] };
    const state = apply(INITIAL_STATE, "CHANNEL_CREATE", group);
    const added = apply(state, "CHANNEL_RECIPIENT_ADD", { channel_id: "9", user: user("3", "ben") });
    expect(added.channels["9"]).toMatchObject({ recipients: [{ id: "2" }, { id: "3" }] });
    const removed = apply(added, "CHANNEL_RECIPIENT_REMOVE", { channel_id: "9", user: user("2", "zoe") });
    expect(removed.channels["9"]).toMatchObject({ recipients: [{ id: "3" }] });
  });
});
