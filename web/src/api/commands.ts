import type { ApiClient } from "./client";

/** A value that an option offers. */
export interface CommandChoice {
  name: string;
  name_localized?: string | null;
  value: string | number;
}

/** An option of a command, or a subcommand or group of subcommands. */
export interface CommandOption {
  type: number;
  name: string;
  name_localized?: string;
  description: string;
  description_localized?: string;
  required?: boolean;
  choices?: CommandChoice[];
  options?: CommandOption[];
  channel_types?: number[];
  min_value?: number;
  max_value?: number;
  min_length?: number;
  max_length?: number;
  autocomplete?: boolean;
  /** File extensions such as `.png`, or groups such as `image`. */
  file_types?: string[];
}

export interface Command {
  id: string;
  application_id: string;
  version: string;
  type: number;
  name: string;
  name_localized?: string;
  description: string;
  description_localized?: string;
  guild_id?: string;
  options?: CommandOption[];
}

export interface CommandApplication {
  id: string;
  name: string;
  icon: string | null;
  description: string;
  bot_id: string;
}

/** The commands that the caller can use in a channel. */
export interface CommandIndex {
  applications: CommandApplication[];
  application_commands: Command[];
  version: string;
}

export function getCommandIndex(
  api: ApiClient,
  channelId: string,
  signal?: AbortSignal,
): Promise<CommandIndex> {
  return api.request("GET", `/channels/${channelId}/application-command-index`, {
    ...(signal && { signal }),
  });
}
