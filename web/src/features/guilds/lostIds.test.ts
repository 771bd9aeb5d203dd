import { expect, test } from "vitest";

import { lostIds } from "./lostIds";

const BEFORE = ["1", "2"];

test("a guild that is deleted for the account is lost, one that is out of reach for a while is not", () => {
  expect(lostIds("GUILD_DELETE", { id: "1" }, BEFORE)).toEqual(["1"]);
  expect(lostIds("GUILD_DELETE", { id: "1", unavailable: false }, BEFORE)).toEqual(["1"]);
  expect(lostIds("GUILD_DELETE", { id: "1", unavailable: true }, BEFORE)).toEqual([]);
});

test("a guild that was not known is not lost", () => {
  expect(lostIds("GUILD_DELETE", { id: "3" }, BEFORE)).toEqual([]);
});

test("what a new session no longer has was lost while there was no connection", () => {
  expect(lostIds("READY", { guilds: [{ id: "2" }, { id: "3" }] }, BEFORE)).toEqual(["1"]);
  expect(lostIds("RESUMED", {}, BEFORE)).toEqual([]);
});
