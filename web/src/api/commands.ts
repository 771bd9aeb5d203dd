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

/** The commands of a guild's applications. */
export function getGuildCommandIndex(api: ApiClient, guildId: string): Promise<CommandIndex> {
  return api.request("GET", `/guilds/${guildId}/application-command-index`);
}

export const CommandPermissionType = { Role: 1, User: 2, Channel: 3 } as const;

/** Whether a role, a user or a channel may use a command. */
export interface CommandPermission {
  id: string;
  type: (typeof CommandPermissionType)[keyof typeof CommandPermissionType];
  permission: boolean;
}

/** The permissions for a command; with the application's id they are for all its commands without any. */
export interface CommandPermissions {
  id: string;
  permissions: CommandPermission[];
}

export function listCommandPermissions(
  api: ApiClient,
  applicationId: string,
  guildId: string,
): Promise<CommandPermissions[]> {
  return api.request("GET", `/applications/${applicationId}/guilds/${guildId}/commands/permissions`);
}

export function editCommandPermissions(
  api: ApiClient,
  applicationId: string,
  guildId: string,
  commandId: string,
  permissions: readonly CommandPermission[],
): Promise<CommandPermissions> {
  return api.request(
    "PUT",
    `/applications/${applicationId}/guilds/${guildId}/commands/${commandId}/permissions`,
    { body: { permissions } },
  );
}
