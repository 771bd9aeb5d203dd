import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

import type { Combination } from "../keybinds/combinations";
import { bestMatches } from "../completion/completion";

/** Something that the client does when it is chosen by its name. */
export interface Command {
  id: string;
  label: string;
  /** What it is about: a channel, a guild, a group of settings. */
  detail: string;
  Icon: LucideIcon;
  keys: Combination | null;
  /** Do it; or return the dialog that asks how. */
  perform: (close: () => void) => ReactNode;
}

/** The sign that a query begins with which is for commands alone. */
export const COMMAND_SIGN = ">";
const MAX_COMMANDS = 200;
/** Beside places, so many commands. */
const MAX_BESIDE = 8;

/** The commands that match a query: all of them after the sign, else the best ones beside the places. */
export function matchingCommands(commands: readonly Command[], query: string): readonly Command[] {
  const isAlone = query.startsWith(COMMAND_SIGN);
  const text = (isAlone ? query.slice(COMMAND_SIGN.length) : query).trim();
  if (text === "") {
    return isAlone ? commands.slice(0, MAX_COMMANDS) : [];
  }
  const names = ({ label, detail }: Command) => [label, `${label} ${detail}`, `${detail} ${label}`];
  return bestMatches(commands, text, names, isAlone ? MAX_COMMANDS : MAX_BESIDE);
}
