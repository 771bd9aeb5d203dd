import { Settings } from "lucide-react";
import { expect, test } from "vitest";

import { matchingCommands, type Command } from "./command";

const command = (label: string, detail: string): Command => ({
  id: label,
  label,
  detail,
  Icon: Settings,
  keys: null,
  perform: () => null,
});
const COMMANDS = [
  command("Appearance", "Settings"),
  command("Invite people", "The Moot"),
  ...Array.from({ length: 30 }, (_, index) => command(`Channel ${index}`, "Many")),
];
const labels = (query: string) => matchingCommands(COMMANDS, query).map(({ label }) => label);

test("without the sign an empty query lists no commands, with it all of them", () => {
  expect(labels("")).toEqual([]);
  expect(labels(">")).toHaveLength(COMMANDS.length);
  expect(labels("> ")).toHaveLength(COMMANDS.length);
});

test("a command is found by its name and by what it is about", () => {
  expect(labels("invite")).toEqual(["Invite people"]);
  expect(labels(">the moot")).toEqual(["Invite people"]);
  expect(labels("settings app")).toEqual(["Appearance"]);
});

test("beside places there are few of them", () => {
  expect(labels("channel").length).toBe(8);
  expect(labels(">channel").length).toBe(30);
});
