import { describe, expect, it } from "vitest";

import type { CommandIndex, CommandOption } from "../../api/commands";
import {
  buildAutocomplete,
  buildOptions,
  checkOption,
  commandLeaves,
  contextCommands,
  fitsTypes,
  matchCommands,
  type CommandLeaf,
} from "./options";

const TEXT: CommandOption = { type: 3, name: "text", description: "", required: true, max_length: 5 };
const COUNT: CommandOption = { type: 4, name: "count", description: "", min_value: 1, max_value: 6 };

const INDEX: CommandIndex = {
  version: "1",
  applications: [
    { id: "20", name: "Zed", icon: null, description: "", bot_id: "20" },
    { id: "10", name: "Ann", icon: null, description: "", bot_id: "10" },
  ],
  application_commands: [
    command("1", "20", "roll", [TEXT, COUNT]),
    {
      ...command("2", "10", "set", [
        {
          type: 2,
          name: "color",
          description: "",
          options: [{ type: 1, name: "red", description: "Red it is", options: [TEXT] }],
        },
        { type: 1, name: "size", name_localized: "Größe", description: "Larger", options: [] },
      ]),
    },
    { ...command("3", "10", "Report"), type: 3 },
    { ...command("4", "10", "Greet"), type: 2 },
  ],
};

function command(id: string, applicationId: string, name: string, options: CommandOption[] = []) {
  return {
    id,
    application_id: applicationId,
    version: "1",
    type: 1,
    name,
    description: `does ${name}`,
    options,
  };
}

function leaf(title: string): CommandLeaf {
  const match = commandLeaves(INDEX).find((each) => each.title === title);
  if (match === undefined) {
    throw new Error(title);
  }
  return match;
}

describe("the commands of an index", () => {
  it("are its slash commands and subcommands, by application and name", () => {
    expect(commandLeaves(INDEX).map((each) => each.title)).toEqual(["set color red", "set Größe", "roll"]);
  });

  it("have those of menus apart", () => {
    expect(contextCommands(INDEX, 3).map((each) => each.command.name)).toEqual(["Report"]);
    expect(contextCommands(INDEX, 2).map((each) => each.command.name)).toEqual(["Greet"]);
  });

  it("match by name before description", () => {
    const titles = (query: string) => matchCommands(commandLeaves(INDEX), query).map((each) => each.title);
    expect(titles("ro")).toEqual(["roll"]);
    expect(titles("set gr")).toEqual(["set Größe"]);
    expect(titles("r")).toEqual(["roll", "set color red", "set Größe"]);
    expect(titles("nothing")).toEqual([]);
  });
});

describe("an option", () => {
  it("is required or not", () => {
    expect(checkOption(TEXT, undefined, 0)?.id).toBe("command.problem.required");
    expect(checkOption(COUNT, { kind: "text", text: "" }, 0)).toBeNull();
  });

  it("has a length in code points", () => {
    expect(checkOption(TEXT, { kind: "text", text: "🎲🎲🎲🎲🎲" }, 0)).toBeNull();
    expect(checkOption(TEXT, { kind: "text", text: "123456" }, 0)).toEqual({
      id: "command.problem.maxLength",
      values: { max: 5 },
    });
  });

  it("has a number within its bounds", () => {
    const check = (text: string, type = 4) => checkOption({ ...COUNT, type }, { kind: "text", text }, 0)?.id;
    expect(check("6")).toBeUndefined();
    expect(check("7")).toBe("command.problem.max");
    expect(check("0")).toBe("command.problem.min");
    expect(check("1.5")).toBe("command.problem.integer");
    expect(check("1,5", 10)).toBeUndefined();
    expect(check("many", 10)).toBe("command.problem.number");
  });

  it("with choices takes one of them only", () => {
    const option = { ...TEXT, choices: [{ name: "Dog", value: "dog" }] };
    expect(checkOption(option, { kind: "text", text: "dog" }, 0)?.id).toBe("command.problem.choice");
    expect(checkOption(option, { kind: "choice", value: "dog", label: "Dog" }, 0)).toBeNull();
  });

  it("takes files of its types and of the allowed size", () => {
    const option: CommandOption = { type: 11, name: "file", description: "", file_types: ["image"] };
    const check = (name: string, size: number) =>
      checkOption(option, { kind: "file", file: new File(["x".repeat(size)], name) }, 10)?.id;
    expect(check("a.PNG", 10)).toBeUndefined();
    expect(check("a.txt", 1)).toBe("command.problem.fileType");
    expect(check("a.png", 11)).toBe("command.problem.fileSize");
    expect(fitsTypes("a.txt", [])).toBe(true);
  });
});

describe("the options that are sent", () => {
  it("stand below their group and subcommand", () => {
    expect(buildOptions(leaf("set color red"), { text: { kind: "text", text: "hi" } }, [])).toEqual([
      {
        type: 2,
        name: "color",
        options: [{ type: 1, name: "red", options: [{ type: 3, name: "text", value: "hi" }] }],
      },
    ]);
    expect(buildOptions(leaf("set Größe"), {}, [])).toEqual([{ type: 1, name: "size", options: [] }]);
  });

  it("have numbers as numbers and files by their number", () => {
    const files: File[] = [];
    const file = new File(["x"], "a.png");
    const withFile = { ...leaf("roll"), options: [COUNT, { ...TEXT, type: 11, name: "file" }] };
    const inputs = { count: { kind: "text", text: "3" }, file: { kind: "file", file } } as const;
    expect(buildOptions(withFile, inputs, files)).toEqual([
      { type: 4, name: "count", value: 3 },
      { type: 11, name: "file", value: "0" },
    ]);
    expect(files).toEqual([file]);
  });

  it("leave out invalid ones in a request for choices", () => {
    const inputs = { text: { kind: "text", text: "too long" }, count: { kind: "text", text: "2" } } as const;
    expect(buildAutocomplete(leaf("roll"), inputs, "text", "wor")).toEqual([
      { type: 3, name: "text", value: "wor", focused: true },
      { type: 4, name: "count", value: 2 },
    ]);
    expect(buildAutocomplete(leaf("roll"), inputs, "count", "")).toEqual([
      { type: 4, name: "count", value: "", focused: true },
    ]);
  });
});
