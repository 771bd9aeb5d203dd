import { ApplicationCommandOptionType as OptionType, ApplicationCommandType } from "../../api/enums";
import type { Command, CommandApplication, CommandIndex, CommandOption } from "../../api/commands";

/** A command that can be used: a slash command, or one of its subcommands. */
export interface CommandLeaf {
  key: string;
  command: Command;
  application: CommandApplication;
  /** The names of the subcommand group and the subcommand, as the API has them. */
  path: readonly string[];
  /** The name in the user's language, with group and subcommand. */
  title: string;
  description: string;
  options: readonly CommandOption[];
}

/** What the user has entered for an option. */
export type OptionInput =
  | { kind: "text"; text: string }
  | { kind: "choice"; value: string | number | boolean; label: string }
  | { kind: "file"; file: File };

export type OptionInputs = Readonly<Record<string, OptionInput | undefined>>;

/** Why an input cannot be sent, as the id of a text with its values. */
export interface OptionProblem {
  id:
    | "command.problem.required"
    | "command.problem.choice"
    | "command.problem.integer"
    | "command.problem.number"
    | "command.problem.min"
    | "command.problem.max"
    | "command.problem.minLength"
    | "command.problem.maxLength"
    | "command.problem.fileType"
    | "command.problem.fileSize";
  values?: Record<string, string | number>;
}

export const MAX_TEXT = 6000;
const MAX_NUMBER = 2 ** 53;

const TEXT: OptionInput = { kind: "text", text: "" };

export function nameOf(named: { name: string; name_localized?: string | null }): string {
  return named.name_localized ?? named.name;
}

export function descriptionOf(described: { description: string; description_localized?: string }): string {
  return described.description_localized ?? described.description;
}

/** The slash commands and subcommands of an index, by application and then by name. */
export function commandLeaves(index: CommandIndex): CommandLeaf[] {
  const applications = new Map(index.applications.map((application) => [application.id, application]));
  return index.application_commands
    .flatMap((command) => {
      const application = applications.get(command.application_id);
      return application === undefined || command.type !== ApplicationCommandType.ChatInput
        ? []
        : leaves(command, application, command, [], nameOf(command));
    })
    .sort(
      (a, b) =>
        a.application.name.localeCompare(b.application.name) ||
        a.application.id.localeCompare(b.application.id) ||
        a.title.localeCompare(b.title),
    );
}

function leaves(
  command: Command,
  application: CommandApplication,
  node: Command | CommandOption,
  path: readonly string[],
  title: string,
): CommandLeaf[] {
  const options = node.options ?? [];
  const children = options.filter(
    (option) => option.type === OptionType.Subcommand || option.type === OptionType.SubcommandGroup,
  );
  if (children.length > 0) {
    return children.flatMap((child) =>
      leaves(command, application, child, [...path, child.name], `${title} ${nameOf(child)}`),
    );
  }
  const key = [command.id, ...path].join(" ");
  return [{ key, command, application, path, title, description: descriptionOf(node), options }];
}

/** The commands of a menu of users or messages, by name. */
export function contextCommands(
  index: CommandIndex,
  type: number,
): { command: Command; application: CommandApplication }[] {
  const applications = new Map(index.applications.map((application) => [application.id, application]));
  return index.application_commands
    .flatMap((command) => {
      const application = applications.get(command.application_id);
      return application === undefined || command.type !== type ? [] : [{ command, application }];
    })
    .sort((a, b) => nameOf(a.command).localeCompare(nameOf(b.command)));
}

/** Commands that match what was typed after the slash: first those whose name begins with it. */
export function matchCommands(commands: readonly CommandLeaf[], query: string): CommandLeaf[] {
  const text = query.trim().toLowerCase();
  if (text === "") {
    return [...commands];
  }
  const rank = ({ title, description }: CommandLeaf): number => {
    const name = title.toLowerCase();
    if (name.startsWith(text)) {
      return 0;
    }
    if (name.split(" ").some((word) => word.startsWith(text))) {
      return 1;
    }
    return name.includes(text) ? 2 : description.toLowerCase().includes(text) ? 3 : 4;
  };
  return commands
    .map((leaf) => ({ leaf, rank: rank(leaf) }))
    .filter((each) => each.rank < 4)
    .sort((a, b) => a.rank - b.rank)
    .map((each) => each.leaf);
}

/** Whether an input counts as none: an empty text. */
function isEmpty(input: OptionInput | undefined): boolean {
  return input === undefined || (input.kind === "text" && input.text === "");
}

/** Why the input of an option cannot be sent; null if it can. `maxFileSize` is in bytes. */
export function checkOption(
  option: CommandOption,
  input: OptionInput | undefined,
  maxFileSize: number,
): OptionProblem | null {
  if (isEmpty(input) || input === undefined) {
    return option.required === true ? { id: "command.problem.required" } : null;
  }
  if (input.kind === "file") {
    return checkFile(option, input.file, maxFileSize);
  }
  switch (option.type) {
    case OptionType.String:
      return input.kind === "choice" ? null : checkText(option, input.text);
    case OptionType.Integer:
    case OptionType.Number:
      return input.kind === "choice" ? null : checkNumber(option, input.text);
    default:
      return input.kind === "choice" ? null : { id: "command.problem.choice" };
  }
}

function checkText(option: CommandOption, text: string): OptionProblem | null {
  if (option.choices?.length && option.autocomplete !== true) {
    return { id: "command.problem.choice" };
  }
  // The API counts code points.
  const length = Array.from(text).length;
  const { min_length: min = 0, max_length: max = MAX_TEXT } = option;
  if (length < min) {
    return { id: "command.problem.minLength", values: { min } };
  }
  return length > max ? { id: "command.problem.maxLength", values: { max } } : null;
}

function checkNumber(option: CommandOption, text: string): OptionProblem | null {
  if (option.choices?.length && option.autocomplete !== true) {
    return { id: "command.problem.choice" };
  }
  const isInteger = option.type === OptionType.Integer;
  const value = readNumber(text);
  if (value === null || (isInteger && !Number.isInteger(value))) {
    return { id: isInteger ? "command.problem.integer" : "command.problem.number" };
  }
  const { min_value: min = -MAX_NUMBER + 1, max_value: max = MAX_NUMBER - 1 } = option;
  if (value < min) {
    return { id: "command.problem.min", values: { min } };
  }
  return value > max ? { id: "command.problem.max", values: { max } } : null;
}

/** The number that a text is, with a point or a comma; null if it is none. */
export function readNumber(text: string): number | null {
  const plain = text.trim().replace(",", ".");
  return /^[-+]?(?:\d+\.?\d*|\.\d+)$/.test(plain) ? Number(plain) : null;
}

const FILE_GROUPS: Readonly<Record<string, readonly string[]>> = {
  image: [".png", ".gif", ".jpg", ".jpeg", ".jfif", ".webp", ".avif"],
  video: [".mp4", ".mov", ".qt", ".webm"],
  audio: [".mp3", ".m4a", ".wav", ".ogg", ".opus", ".flac"],
};

/** Whether a file's name has one of some extensions or groups of them; an empty list allows every file. */
export function fitsTypes(fileName: string, types: readonly string[]): boolean {
  const name = fileName.toLowerCase();
  const extensions = types.flatMap((type) => FILE_GROUPS[type] ?? [type.startsWith(".") ? type : `.${type}`]);
  return extensions.length === 0 || extensions.some((extension) => name.endsWith(extension.toLowerCase()));
}

/** The `accept` attribute of a file input for such types; undefined for every file. */
export function acceptedTypes(types: readonly string[] | undefined): string | undefined {
  return types === undefined || types.length === 0
    ? undefined
    : types.flatMap((type) => FILE_GROUPS[type] ?? [type.startsWith(".") ? type : `.${type}`]).join(",");
}

function checkFile(option: CommandOption, file: File, maxFileSize: number): OptionProblem | null {
  const types = option.file_types ?? [];
  if (!fitsTypes(file.name, types)) {
    return { id: "command.problem.fileType", values: { types: types.join(", ") } };
  }
  return file.size > maxFileSize ? { id: "command.problem.fileSize", values: { name: file.name } } : null;
}

/** The options of a command as they are sent, below its subcommand. Adds its files to `files`. */
export function buildOptions(leaf: CommandLeaf, inputs: OptionInputs, files: File[]): unknown[] {
  const values = leaf.options.flatMap((option) => {
    const input = inputs[option.name];
    return isEmpty(input) || input === undefined
      ? []
      : [{ type: option.type, name: option.name, value: valueOf(option, input, files) }];
  });
  return nest(leaf, values);
}

/**
 * The options of a request for choices of one of them: the focused one with its text, and others whose input is valid.
 * Files are left out.
 */
export function buildAutocomplete(
  leaf: CommandLeaf,
  inputs: OptionInputs,
  focused: string,
  text: string,
): unknown[] {
  const values = leaf.options.flatMap((option) => {
    if (option.name === focused) {
      return [{ type: option.type, name: option.name, value: text, focused: true }];
    }
    const input = inputs[option.name];
    const usable = input !== undefined && input.kind !== "file" && !isEmpty(input);
    return usable && checkOption(option, input, 0) === null
      ? [{ type: option.type, name: option.name, value: valueOf(option, input, []) }]
      : [];
  });
  return nest(leaf, values);
}

function valueOf(option: CommandOption, input: OptionInput, files: File[]): string | number | boolean {
  if (input.kind === "file") {
    return String(files.push(input.file) - 1);
  }
  if (input.kind === "choice") {
    return input.value;
  }
  const isNumber = option.type === OptionType.Integer || option.type === OptionType.Number;
  return isNumber ? (readNumber(input.text) ?? input.text) : input.text;
}

/** Values below the subcommand of a command. */
function nest(leaf: CommandLeaf, values: unknown[]): unknown[] {
  return leaf.path.reduceRight<unknown[]>((inner, name, index) => {
    const isLast = index === leaf.path.length - 1;
    const type = isLast ? OptionType.Subcommand : OptionType.SubcommandGroup;
    return [{ type, name, options: inner }];
  }, values);
}

/** The text of an input, as its field shows it. */
export function inputText(input: OptionInput | undefined): string {
  const shown = input ?? TEXT;
  return shown.kind === "text" ? shown.text : shown.kind === "choice" ? shown.label : shown.file.name;
}
