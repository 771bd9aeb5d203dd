import type { APIChannel, APIRole } from "discord-api-types/v10";
import { expect, test } from "vitest";

import { ChannelType } from "../../api/enums";
import type { GuildState } from "../../store/state";
import { hidden, isHidden, isNew, stepsDone } from "./beginning";
import { KINDS, partsOf } from "./kinds";

const EMPTY = { memberCount: 1, icon: null, rulesChannelId: null, roles: {} } as unknown as GuildState;

function channel(name: string, type: ChannelType = ChannelType.GuildText): APIChannel {
  return { id: name, name, type } as unknown as APIChannel;
}

const FIRST = [
  channel("Text Channels", ChannelType.GuildCategory),
  channel("general"),
  channel("Voice Channels", ChannelType.GuildCategory),
  channel("General", ChannelType.GuildVoice),
];

test("a guild as it is created has done nothing yet", () => {
  expect([...stepsDone(EMPTY, FIRST)]).toEqual([]);
});

test("each step is ticked by what the guild is, not by a click", () => {
  const bot = { tags: { bot_id: "7" } } as unknown as APIRole;
  const guild = { ...EMPTY, memberCount: 2, icon: "hash", roles: { 1: bot } } as GuildState;
  expect([...stepsDone(guild, [...FIRST, channel("regeln")])]).toEqual([
    "invite",
    "icon",
    "channels",
    "rules",
    "bot",
  ]);
  expect(stepsDone({ ...EMPTY, rulesChannelId: "5" }, FIRST)).toEqual(new Set(["rules"]));
});

test("a guild is new for thirty days", () => {
  const created = 1_800_000_000_000;
  const id = String(BigInt(created - 1_420_070_400_000) << 22n);
  expect(isNew(id, created + 29 * 86_400_000)).toBe(true);
  expect(isNew(id, created + 31 * 86_400_000)).toBe(false);
});

test("who closes the list closes it in the settings of the account, beside what else they say", () => {
  expect(isHidden(0)).toBe(false);
  expect(isHidden(hidden(1 << 14))).toBe(true);
  expect(hidden(1 << 14) & (1 << 14)).not.toBe(0);
  expect(hidden(hidden(0))).toBe(hidden(0));
});

test.each(KINDS)("what a %s begins with is a request that refers to its own ids alone", (kind) => {
  const { channels = [], roles = [], system_channel_id: systemId } = partsOf(kind, (id) => id);
  const categories = new Set(
    channels.filter(({ type }) => type === ChannelType.GuildCategory).map(({ id }) => id),
  );
  expect(new Set(channels.map(({ id }) => id)).size).toBe(channels.length);
  expect(channels.every(({ parent_id: parent }) => parent == null || categories.has(parent))).toBe(true);
  expect(channels.find(({ id }) => id === systemId)?.type).toBe(ChannelType.GuildText);
  const roleIds = new Set(roles.map(({ id }) => String(id)));
  const overwrites = channels.flatMap((each) => each.permission_overwrites ?? []);
  expect(overwrites.every(({ id }) => roleIds.has(String(id)))).toBe(true);
  expect(channels.length).toBeGreaterThan(4);
});
