import type { APIChannel } from "discord-api-types/v10";

import { ApplicationCommandOptionType as OptionType, ChannelType, Permission } from "../../api/enums";
import { isForum, isPrivate, isThread } from "../../store/channels";
import { channelPermissions, has } from "../../store/permissions";
import type { State } from "../../store/state";
import { loadCommandIndex } from "../commands/commandIndex";
import { commandLeaves, buildOptions, type CommandLeaf, type OptionInputs } from "../commands/options";
import type { Session } from "../session/session";
import { switcherItems, type SwitcherItem } from "../switcher/items";

/** A command that an Activity offers to use in a channel. */
export interface SharedCommand {
  /** With its group and subcommand, separated by spaces. */
  name: string;
  options: readonly { name: string; value: string }[];
  content: string;
  /** What the preview shows; null for none. */
  image: PreviewImage | null;
  buttons: readonly (readonly PreviewButton[])[];
  /** Whether it may be used in the channel of the instance alone. */
  onlyHere: boolean;
}

export interface PreviewImage {
  url: string;
  width: number;
  height: number;
}

/** A button that is shown and does nothing: the app's own come with its answer. */
export interface PreviewButton {
  /** From 1 to 5, as components have it. */
  style: number;
  label: string;
}

/** A place to send something to. */
export type Destination = SwitcherItem & { channel: APIChannel };

/** The channels and conversations that match a query, and that the user may send messages to with these permissions. */
export function destinations(state: State, query: string, needed: bigint): Destination[] {
  const userId = state.user?.id ?? "";
  return switcherItems(state, query).filter((item): item is Destination => {
    const { channel } = item;
    if (channel === null || channel.type === ChannelType.GuildCategory || isForum(channel)) {
      return false;
    }
    const send = isThread(channel) ? Permission.SendMessagesInThreads : Permission.SendMessages;
    return isPrivate(channel) || has(channelPermissions(state, channel, userId), send | needed);
  });
}

/** The command of an application by its name, in a channel where the user can use it; null if there is none. */
export async function findCommand(
  session: Session,
  channelId: string,
  applicationId: string,
  shared: SharedCommand,
): Promise<CommandLeaf | null> {
  const index = await loadCommandIndex(session, channelId);
  return (
    commandLeaves(index).find(
      ({ command, application, path }) =>
        application.id === applicationId && [command.name, ...path].join(" ") === shared.name,
    ) ?? null
  );
}

/** The options of a shared command as they are sent, with values of their types. */
export function sharedOptions(leaf: CommandLeaf, shared: SharedCommand): unknown[] {
  const inputs: Record<string, OptionInputs[string]> = {};
  for (const { name, value } of shared.options) {
    const type = leaf.options.find((option) => option.name === name)?.type;
    inputs[name] =
      type === OptionType.Boolean
        ? { kind: "choice", value: value === "true", label: value }
        : { kind: "text", text: value };
  }
  return buildOptions(leaf, inputs, []);
}
