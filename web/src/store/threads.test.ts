import type { APIChannel, APIThreadChannel, APIThreadMember } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { Permission } from "../api/enums";
import { isUnread } from "./reading";
import { reduce } from "./reducers";
import { INITIAL_STATE, type GuildState, type State } from "./state";
import { setThreadMembers, threadsOf } from "./threads";

const MEMBER = {
  id: "20",
  user_id: "1",
  join_timestamp: "2026-01-01T00:00:00Z",
  flags: 0,
} as unknown as APIThreadMember;

function thread(id: string, fields: object = {}): APIThreadChannel {
  return {
    id,
    type: 11,
    guild_id: "7",
    parent_id: "9",
    name: id,
    thread_metadata: { archived: false, locked: false },
    ...fields,
  } as unknown as APIThreadChannel;
}

function state(...threads: APIThreadChannel[]): State {
  const parents = [
    { id: "9", type: 0, guild_id: "7", permission_overwrites: [] },
    { id: "8", type: 15, guild_id: "7", permission_overwrites: [] },
  ] as unknown as APIChannel[];
  return {
    ...INITIAL_STATE,
    user: { id: "1" } as State["user"],
    guilds: { "7": { id: "7", ownerId: "99", roles: {} } as unknown as GuildState },
    members: { "7": { "1": { roles: [] } as never } },
    channels: Object.fromEntries([...parents, ...threads].map((channel) => [channel.id, channel])),
  };
}

const ids = (current: State) => threadsOf(current.channels, "9").map((each) => each.id);
const member = (current: State, id: string) => (current.channels[id] as APIThreadChannel).member;

describe("threads", () => {
  it("keep the user's membership when an event leaves it out", () => {
    let current = reduce(state(), "THREAD_CREATE", thread("20", { member: MEMBER }), 0);
    current = reduce(current, "THREAD_UPDATE", thread("20", { name: "renamed" }), 0);
    expect(current.channels["20"]).toMatchObject({ name: "renamed", member: MEMBER });
  });

  it("are removed with their messages and members", () => {
    let current = setThreadMembers(state(thread("20")), "20", [MEMBER]);
    current = reduce(current, "THREAD_DELETE", { id: "20", parent_id: "9" }, 0);
    expect([ids(current), current.threadMembers]).toEqual([[], {}]);
  });

  it("are removed with their channel", () => {
    expect(ids(reduce(state(thread("20")), "CHANNEL_DELETE", { id: "9", type: 0 }, 0))).toEqual([]);
  });

  it("of the synchronized channels are replaced, those that are archived stay", () => {
    const archived = thread("22", { thread_metadata: { archived: true } });
    const elsewhere = thread("23", { parent_id: "8" });
    const data = {
      guild_id: "7",
      channel_ids: ["9"],
      threads: [thread("21")],
      members: [{ ...MEMBER, id: "21" }],
    };
    const current = reduce(state(thread("20"), archived, elsewhere), "THREAD_LIST_SYNC", data, 0);
    expect(ids(current).sort()).toEqual(["21", "22"]);
    expect(current.channels["23"]).toBeDefined();
    expect(member(current, "21")).toMatchObject({ user_id: "1" });
  });

  it("of all channels are replaced when the synchronization names none", () => {
    const data = { guild_id: "7", threads: [], members: [] };
    const current = reduce(
      state(thread("20"), thread("23", { parent_id: "8" })),
      "THREAD_LIST_SYNC",
      data,
      0,
    );
    expect(Object.keys(current.channels).sort()).toEqual(["8", "9"]);
  });

  it("count their members, and tell whether the user is one", () => {
    const data = { id: "20", guild_id: "7", member_count: 2, added_members: [MEMBER] };
    let current = reduce(state(thread("20")), "THREAD_MEMBERS_UPDATE", data, 0);
    expect(current.channels["20"]).toMatchObject({ member_count: 2, member: MEMBER });
    const left = { id: "20", guild_id: "7", member_count: 1, removed_member_ids: ["1"] };
    current = reduce(current, "THREAD_MEMBERS_UPDATE", left, 0);
    expect(current.channels["20"]).toMatchObject({ member_count: 1 });
    expect(member(current, "20")).toBeUndefined();
  });

  it("change the list of members where it was loaded", () => {
    let current = setThreadMembers(state(thread("20")), "20", [{ ...MEMBER, user_id: "2" }]);
    const data = {
      id: "20",
      guild_id: "7",
      member_count: 1,
      added_members: [MEMBER],
      removed_member_ids: ["2"],
    };
    current = reduce(current, "THREAD_MEMBERS_UPDATE", data, 0);
    expect(Object.keys(current.threadMembers["20"] ?? {})).toEqual(["1"]);
  });

  it("that are private disappear when the user leaves, unless they may manage threads", () => {
    const left = { id: "20", guild_id: "7", member_count: 0, removed_member_ids: ["1"] };
    const start = state(thread("20", { type: 12, member: MEMBER }));
    expect(ids(reduce(start, "THREAD_MEMBERS_UPDATE", left, 0))).toEqual([]);
    const role = { id: "7", permissions: String(Permission.ManageThreads) };
    const guild = { ...start.guilds["7"], roles: { "7": role } } as unknown as GuildState;
    expect(ids(reduce({ ...start, guilds: { "7": guild } }, "THREAD_MEMBERS_UPDATE", left, 0))).toEqual([
      "20",
    ]);
  });

  it("take the settings of the user's membership from its event", () => {
    const current = reduce(
      state(thread("20", { member: MEMBER })),
      "THREAD_MEMBER_UPDATE",
      { ...MEMBER, guild_id: "7", flags: 2 },
      0,
    );
    expect(member(current, "20")).toEqual({ ...MEMBER, flags: 2 });
  });

  it("are unread for their members only", () => {
    const joined = thread("20", { last_message_id: "9999999999999999999", member: MEMBER });
    expect(isUnread(state(joined), joined)).toBe(true);
    const other = thread("21", { last_message_id: "9999999999999999999" });
    expect(isUnread(state(other), other)).toBe(false);
  });
});

describe("posts", () => {
  const post = thread("30", { parent_id: "8", message_count: 0, total_message_sent: 0 });
  const message = (id: string, fields: object = {}) => ({
    id,
    channel_id: "30",
    author: { id: "2" },
    content: "text",
    mentions: [],
    mention_roles: [],
    ...fields,
  });

  it("know their first message, its edits and its end", () => {
    let current = reduce(state(post), "MESSAGE_CREATE", message("30"), 0);
    current = reduce(current, "MESSAGE_CREATE", message("31"), 0);
    expect(current.firstMessages["30"]).toMatchObject({ id: "30", content: "text" });
    current = reduce(current, "MESSAGE_UPDATE", message("30", { content: "edited" }), 0);
    current = reduce(current, "MESSAGE_UPDATE", message("31", { content: "other" }), 0);
    expect(current.firstMessages["30"]?.content).toBe("edited");
    current = reduce(current, "MESSAGE_DELETE", { id: "30", channel_id: "30" }, 0);
    expect(current.firstMessages["30"]).toBeUndefined();
  });

  it("count their messages", () => {
    let current = reduce(state(post), "MESSAGE_CREATE", message("30"), 0);
    expect(current.channels["30"]).toMatchObject({ message_count: 0, total_message_sent: 0 });
    current = reduce(current, "MESSAGE_CREATE", message("31"), 0);
    current = reduce(current, "MESSAGE_CREATE", message("32"), 0);
    current = reduce(current, "MESSAGE_DELETE_BULK", { ids: ["31"], channel_id: "30" }, 0);
    expect(current.channels["30"]).toMatchObject({ message_count: 1, total_message_sent: 2 });
    current = reduce(current, "MESSAGE_DELETE", { id: "30", channel_id: "30" }, 0);
    expect(current.channels["30"]).toMatchObject({ message_count: 1, total_message_sent: 2 });
  });
});
