import type { Command } from "../../api/commands";
import { ApiError } from "../../api/errors";
import { createCommandInteraction, type CommandData, type InteractionSource } from "../../api/interactions";
import { makeNonce } from "../../api/nonce";
import { addInteraction, endInteraction } from "../../store/interactions";
import { guildIdOf } from "../../store/channels";
import type { Session } from "../session/session";
import { nameOf, type CommandLeaf } from "./options";

/** Where the commands of an application are used. */
export function sourceOf(session: Session, channelId: string, applicationId: string): InteractionSource {
  const channel = session.store.state.channels[channelId];
  return {
    applicationId,
    guildId: channel === undefined ? null : guildIdOf(channel),
    channelId,
    sessionId: session.store.state.sessionId,
    nonce: makeNonce(),
  };
}

/** A command as requests name it. */
export function commandData(command: Command): CommandData {
  return { id: command.id, version: command.version, type: command.type, name: command.name };
}

/**
 * Use a slash command; it is pending until the application has responded. Throws what the server refuses: then it is
 * not pending.
 */
export async function runCommand(
  session: Session,
  channelId: string,
  leaf: CommandLeaf,
  options: readonly unknown[],
  files: readonly File[],
): Promise<void> {
  const source = sourceOf(session, channelId, leaf.application.id);
  const used = { channelId, name: `/${leaf.title}`, applicationName: leaf.application.name };
  session.store.update((state) => addInteraction(state, source.nonce, "", used));
  try {
    await createCommandInteraction(session.api, source, { ...commandData(leaf.command), options }, files);
  } catch (error) {
    session.store.update((state) => endInteraction(state, source));
    throw error;
  }
}

/** Use a command of a menu on a user or a message. A refusal is shown where commands are pending. */
export async function runOnTarget(
  session: Session,
  channelId: string,
  command: Command,
  applicationName: string,
  targetId: string,
): Promise<void> {
  const source = sourceOf(session, channelId, command.application_id);
  const used = { channelId, name: nameOf(command), applicationName };
  session.store.update((state) => addInteraction(state, source.nonce, "", used));
  try {
    await createCommandInteraction(session.api, source, { ...commandData(command), target_id: targetId });
  } catch (error) {
    const reason = error instanceof ApiError ? { reason: error.reason } : {};
    session.store.dispatch("INTERACTION_FAILURE", { nonce: source.nonce, ...reason });
  }
}
