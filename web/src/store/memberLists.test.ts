import type { APIChannel, APIRole } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import {
  memberListId,
  murmur3,
  placedRows,
  rangesFor,
  updateMemberList,
  type MemberListUpdate,
} from "./memberLists";
import { INITIAL_STATE, type GuildState, type State } from "./state";

const member = (id: string) => ({
  member: {
    user: { id, username: `user${id}` },
    roles: [],
    presence: { user: { id }, status: "online" },
  },
});
const heading = (id: string, count: number) => ({ group: { id, count } });

function updated(state: State, groups: [string, number][], ops: unknown[]): State {
  const data = { id: "everyone", guild_id: "10", groups: groups.map(([id, count]) => ({ id, count })), ops };
  return updateMemberList(state, data as unknown as MemberListUpdate);
}

function shown(state: State): string[] {
  const list = state.memberLists["10"]?.["everyone"];
  return (list === undefined ? [] : placedRows(list)).map((row) =>
    row.kind === "heading" ? row.group.id : row.kind === "member" ? row.userId : "?",
  );
}

describe("updateMemberList", () => {
  const first = updated(
    INITIAL_STATE,
    [["online", 3]],
    [{ op: "SYNC", range: [0, 2], items: [heading("online", 3), member("1"), member("2")] }],
  );

  it("places the rows of a range, and shows rows that are not loaded as unknown", () => {
    expect(shown(first)).toEqual(["online", "1", "2", "?"]);
    expect(first.members["10"]?.["2"]?.user.username).toBe("user2");
    expect(first.presences["1"]?.status).toBe("online");
  });

  it("applies operations in order", () => {
    const state = updated(
      first,
      [
        ["7", 1],
        ["online", 2],
      ],
      [
        { op: "DELETE", index: 1 },
        { op: "INSERT", index: 0, item: heading("7", 1) },
        { op: "INSERT", index: 1, item: member("1") },
        { op: "UPDATE", index: 3, item: member("2") },
      ],
    );
    expect(shown(state)).toEqual(["7", "1", "online", "2", "?"]);
  });

  it("drops the rows of an invalidated range", () => {
    const state = updated(first, [["online", 3]], [{ op: "INVALIDATE", range: [0, 2] }]);
    expect(shown(state)).toEqual(["online", "?", "?", "?"]);
  });

  it("loads a range behind rows that are not loaded", () => {
    const state = updated(
      INITIAL_STATE,
      [["online", 4]],
      [{ op: "SYNC", range: [3, 4], items: [member("8")] }],
    );
    expect(shown(state)).toEqual(["online", "?", "?", "8", "?"]);
  });
});

describe("rangesFor", () => {
  it("has the first range and those around the rows shown", () => {
    expect(rangesFor(0, 20)).toEqual([[0, 99]]);
    expect(rangesFor(60, 80)).toEqual([
      [0, 99],
      [100, 199],
    ]);
    expect(rangesFor(1010, 1030)).toEqual([
      [0, 99],
      [900, 999],
      [1000, 1099],
    ]);
  });
});

describe("memberListId", () => {
  const guild = { id: "1", roles: { "1": { permissions: "1024" } as APIRole } } as unknown as GuildState;
  const channel = (overwrites: unknown[], fields = {}) =>
    ({ id: "20", type: 0, permission_overwrites: overwrites, ...fields }) as unknown as APIChannel;

  it("is everyone where everyone may view the channel", () => {
    expect(memberListId(guild, channel([{ id: "7", type: 0, allow: "1024", deny: "0" }]), {})).toBe(
      "everyone",
    );
  });

  it("is the hash of who may view it, for a thread that of its parent", () => {
    const parent = channel([
      { id: "7", type: 0, allow: "1024", deny: "0" },
      { id: "1", type: 0, allow: "0", deny: "1024" },
    ]);
    const hash = String(murmur3("allow:7,deny:1"));
    expect(memberListId(guild, parent, {})).toBe(hash);
    const thread = channel([], { id: "21", parent_id: "20", thread_metadata: {} });
    expect(memberListId(guild, thread, { "20": parent })).toBe(hash);
  });

  it("hashes as the server does", () => {
    expect([murmur3(""), murmur3("hello"), murmur3("hello, world")]).toEqual([0, 0x248bfa47, 0x149bbb7f]);
  });
});
