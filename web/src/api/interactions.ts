import type { ApiClient } from "./client";

/** Where an interaction happens, and of which gateway session. */
export interface InteractionSource {
  applicationId: string;
  guildId: string | null;
  channelId: string;
  sessionId: string | null;
  /** Comes back in the events of the interaction. */
  nonce: string;
}

/** A command with its options, or the user or message that it is used on. */
export interface CommandData {
  id: string;
  version: string;
  type: number;
  name: string;
  options?: readonly unknown[];
  target_id?: string;
}

/** Use a command. Options that are files have the number of a file as their value. */
export function createCommandInteraction(
  api: ApiClient,
  source: InteractionSource,
  command: CommandData,
  files: readonly File[] = [],
): Promise<void> {
  return createInteraction(api, source, 2, { data: { ...command, ...attachments(files) } }, files);
}

/** Request choices for the focused option; they arrive as APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE. */
export function requestAutocomplete(
  api: ApiClient,
  source: InteractionSource,
  command: CommandData,
): Promise<void> {
  return createInteraction(api, source, 4, { data: command });
}

/** Press a button, or choose values of a select, of a message. */
export function createComponentInteraction(
  api: ApiClient,
  source: InteractionSource,
  message: { id: string; flags: number },
  component: { type: number; customId: string; values?: readonly string[] },
): Promise<void> {
  return createInteraction(api, source, 3, {
    message_id: message.id,
    message_flags: message.flags,
    data: {
      component_type: component.type,
      custom_id: component.customId,
      ...(component.values && { values: component.values }),
    },
  });
}

/** Submit a modal: `components` are its fields with the values that were entered. */
export function submitModal(
  api: ApiClient,
  source: InteractionSource,
  modal: { id: string; customId: string; components: readonly unknown[] },
  files: readonly File[],
): Promise<void> {
  const data = {
    id: modal.id,
    custom_id: modal.customId,
    components: modal.components,
    ...attachments(files),
  };
  return createInteraction(api, source, 5, { data }, files);
}

function attachments(files: readonly File[]): { attachments?: unknown } {
  return files.length === 0
    ? {}
    : { attachments: files.map((file, index) => ({ id: String(index), filename: file.name })) };
}

function createInteraction(
  api: ApiClient,
  source: InteractionSource,
  type: number,
  fields: Record<string, unknown>,
  files: readonly File[] = [],
): Promise<void> {
  const body = {
    type,
    application_id: source.applicationId,
    channel_id: source.channelId,
    nonce: source.nonce,
    ...(source.guildId !== null && { guild_id: source.guildId }),
    ...(source.sessionId !== null && { session_id: source.sessionId }),
    ...fields,
  };
  return api.request("POST", "/interactions", { body, ...(files.length > 0 && { files }) });
}
