import type { APIChannel, APIMessage } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { reduce } from "./reducers";
import { endMutes, isChannelMuted, isInForce, nextMuteEnd, notificationLevel, notifies } from "./settings";
import { INITIAL_STATE, type State } from "./state";

const NOW = Date.parse("2026-01-01T12:00:00Z");
const channel = (fields: { id: string; type: number; guild_id?: string; parent_id?: string }) =>
  fields as unknown as APIChannel;
const CHANNEL = channel({ id: "20", type: 0, guild_id: "10", parent_id: "30" });
const THREAD = channel({ id: "21", type: 11, guild_id: "10", parent_id: "20" });
const CATEGORY = channel({ id: "30", type: 4, guild_id: "10" });
const DIRECT = channel({ id: "40", type: 1 });

const base: State = {
  ...INITIAL_STATE,
  user: { id: "1" } as State["user"],
  guilds: { "10": { id: "10", defaultNotifications: 1 } as State["guilds"][string] },
  channels: { "20": CHANNEL, "21": THREAD, "30": CATEGORY, "40": DIRECT },
  members: { "10": { "1": { roles: ["50"] } as never } },
};
const settings = (changes: object) => ({
  guild_id: "10",
  channel_overrides: [],
  flags: 0,
  muted: false,
  mute_config: null,
  message_notifications: 3,
  suppress_everyone: false,
  suppress_roles: false,
  ...changes,
});
const withSettings = (changes: object) => reduce(base, "USER_GUILD_SETTINGS_UPDATE", settings(changes), NOW);
const override = (channelId: string, changes: object) => ({
  channel_id: channelId,
  muted: false,
  mute_config: null,
  message_notifications: 3,
  flags: 0,
  collapsed: false,
  ...changes,
});
const message = (changes: object) =>
  ({
    channel_id: "20",
    author: { id: "2" },
    mentions: [],
    mention_roles: [],
    mention_everyone: false,
    ...changes,
  }) as unknown as APIMessage;

describe("mutes", () => {
  it("end at their time", () => {
    const mute = { muted: true, mute_config: { end_time: "2026-01-01T13:00:00Z" } };
    expect(isInForce(mute, NOW)).toBe(true);
    expect(isInForce(mute, NOW + 3_600_000)).toBe(false);
    expect(isInForce({ muted: true, mute_config: null }, NOW)).toBe(true);
  });

  it("of a category and of a channel hold for what is below", () => {
    const state = withSettings({ channel_overrides: [override("30", { muted: true })] });
    expect(isChannelMuted(state, THREAD, NOW)).toBe(true);
    expect(isChannelMuted(state, DIRECT, NOW)).toBe(false);
  });
});

describe("a muted thread", () => {
  const member = (fields: object) =>
    reduce(base, "THREAD_MEMBER_UPDATE", { id: "21", guild_id: "10", flags: 0, ...fields }, NOW);
  const mention = () => message({ channel_id: "21", mentions: [{ id: "1" }] });

  it("is muted until its time, and notifies of nothing meanwhile", () => {
    expect(isChannelMuted(base, THREAD, NOW)).toBe(false);
    const state = member({ muted: true, mute_config: { end_time: "2026-01-01T13:00:00Z" } });
    const thread = state.channels["21"] as APIChannel;
    expect(isChannelMuted(state, thread, NOW)).toBe(true);
    expect(isChannelMuted(state, thread, NOW + 3_600_000)).toBe(false);
    expect(notifies(state, mention(), NOW)).toBe(false);
    expect(notifies(state, mention(), NOW + 3_600_000)).toBe(true);
    expect(notifies(member({ muted: false, mute_config: null }), mention(), NOW)).toBe(true);
    expect(notifies(member({ flags: 8 }), mention(), NOW)).toBe(false);
  });
});

describe("notifications", () => {
  it("have the level of the nearest place that sets one", () => {
    expect(notificationLevel(base, CHANNEL)).toBe(1);
    expect(notificationLevel(withSettings({ message_notifications: 2 }), THREAD)).toBe(2);
    const state = withSettings({
      message_notifications: 2,
      channel_overrides: [override("20", { message_notifications: 0 })],
    });
    expect(notificationLevel(state, THREAD)).toBe(0);
    expect(notificationLevel(state, CATEGORY)).toBe(2);
    expect(notificationLevel(base, DIRECT)).toBe(0);
  });

  it("come for mentions, and for roles and everyone unless these are suppressed", () => {
    expect(notifies(base, message({}), NOW)).toBe(false);
    expect(notifies(base, message({ mentions: [{ id: "1" }] }), NOW)).toBe(true);
    expect(notifies(base, message({ mention_roles: ["50"] }), NOW)).toBe(true);
    expect(notifies(base, message({ mention_everyone: true }), NOW)).toBe(true);
    const quiet = withSettings({ suppress_everyone: true, suppress_roles: true });
    expect(notifies(quiet, message({ mention_roles: ["50"], mention_everyone: true }), NOW)).toBe(false);
    expect(notifies(base, message({ channel_id: "40" }), NOW)).toBe(true);
  });

  it("do not come from oneself, from blocked users, from muted places, or while one is not to be disturbed", () => {
    const mention = message({ mentions: [{ id: "1" }] });
    expect(notifies(base, message({ author: { id: "1" }, channel_id: "40" }), NOW)).toBe(false);
    expect(notifies(withSettings({ muted: true }), mention, NOW)).toBe(false);
    expect(notifies(base, message({ channel_id: "40", flags: 1 << 12 }), NOW)).toBe(false);
    const blocked = reduce(base, "RELATIONSHIP_ADD", { id: "2", type: 2 }, NOW);
    expect(notifies(blocked, mention, NOW)).toBe(false);
    const busy = reduce(base, "USER_SETTINGS_UPDATE", { status: "dnd" }, NOW);
    expect(notifies(busy, mention, NOW)).toBe(false);
  });
});

describe("mutes for a time", () => {
  const until = (hours: number) => ({
    muted: true,
    mute_config: {
      end_time: new Date(NOW + hours * 3_600_000).toISOString(),
      selected_time_window: 3600 * hours,
    },
  });
  const always = { muted: true, mute_config: { end_time: null, selected_time_window: -1 } };
  const state: State = {
    ...withSettings({ ...until(3), channel_overrides: [override("20", until(1)), override("30", always)] }),
    channels: { ...base.channels, "21": { ...THREAD, member: { user_id: "1", ...until(2) } } as never },
  };

  it("end one after the other, those without an end never", () => {
    const hour = (hours: number) => NOW + hours * 3_600_000;
    expect(endMutes(state, NOW)).toBe(state);
    expect(nextMuteEnd(state)).toBe(hour(1));
    const first = endMutes(state, hour(1));
    expect(first.guildSettings["10"]?.channel_overrides).toMatchObject([
      { channel_id: "20", muted: false, mute_config: null },
      { channel_id: "30", ...always },
    ]);
    expect(nextMuteEnd(first)).toBe(hour(2));
    const second = endMutes(first, hour(2));
    expect(second.channels["21"]).toMatchObject({ member: { user_id: "1", muted: false } });
    expect(second.guildSettings["10"]?.muted).toBe(true);
    const third = endMutes(second, hour(3));
    expect(third.guildSettings["10"]?.muted).toBe(false);
    expect(nextMuteEnd(third)).toBeNull();
  });
});
