import type { APIChannel, APIGuildMember, APIRole } from "discord-api-types/v10";
import { expect, it } from "vitest";

import { INITIAL_STATE, type GuildState, type State } from "../../store/state";
import { expandTypedNames } from "./typed";

const CHANNEL = { id: "20", type: 0, guild_id: "10", name: "general" } as unknown as APIChannel;
const role = (id: string, name: string, mentionable: boolean) =>
  ({ id, name, mentionable, permissions: String(id === "10" ? 0x400n : 0n) }) as APIRole;
const member = (id: string, username: string) =>
  ({ user: { id, username }, roles: [] }) as unknown as APIGuildMember;

const STATE = {
  ...INITIAL_STATE,
  user: { id: "2", username: "ben" },
  guilds: {
    "10": {
      id: "10",
      ownerId: "1",
      roles: {
        "10": role("10", "@everyone", false),
        "11": role("11", "Tea drinkers", true),
        "12": role("12", "Staff", false),
      },
    } as unknown as GuildState,
  },
  channels: {
    "20": CHANNEL,
    "21": { id: "21", type: 0, guild_id: "10", name: "tea" } as unknown as APIChannel,
    "24": { id: "24", type: 2, guild_id: "10", name: "Tea" } as unknown as APIChannel,
    "22": { id: "22", type: 0, guild_id: "10", name: "twice" } as unknown as APIChannel,
    "23": { id: "23", type: 0, guild_id: "10", name: "twice" } as unknown as APIChannel,
  },
  members: { "10": { "1": member("1", "ada"), "2": member("2", "ben"), "3": member("3", "a.d") } },
} as unknown as State;

const sent = (text: string) => expandTypedNames(text, STATE, CHANNEL);

it("makes exact names mentions, whatever surrounds them", () => {
  expect(sent("@ada, (@Ben) and @a.d.")).toBe("<@1>, (<@2>) and <@3>.");
  expect(sent("ask the @tea drinkers in #tea!")).toBe("ask the <@&11> in <#21>!");
  expect(sent("**@ada**")).toBe("**<@1>**");
  expect(sent("#tea and #Tea")).toBe("<#21> and <#24>");
});

it("leaves parts of words, names of several, those that nobody may mention, code and addresses", () => {
  for (const text of [
    "@adam mail@ada x#tea #tease @",
    "#twice",
    "@Staff @everyone",
    "`@ada` ```\n#tea\n``` <@ada>",
    "https://example.org/@ada/#tea",
    "plain",
  ]) {
    expect(sent(text)).toBe(text);
  }
});
