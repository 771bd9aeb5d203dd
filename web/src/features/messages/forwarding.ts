import type { APIChannel, APIMessage } from "discord-api-types/v10";

import { ChannelType, MessageFlag, MessageType, Permission } from "../../api/enums";
import { isForum, isThread } from "../../store/channels";
import { channelPermissions, has } from "../../store/permissions";
import type { State } from "../../store/state";
import { isLocked } from "../../store/threads";

/** Messages that people and apps have written: they can be forwarded and published, and threads start from them. */
const WRITTEN: ReadonlySet<MessageType> = new Set([
  MessageType.Default,
  MessageType.Reply,
  MessageType.ChatInputCommand,
  MessageType.ContextMenuCommand,
]);

export function isWritten(message: Pick<APIMessage, "type">): boolean {
  return WRITTEN.has(message.type);
}

type Judged = Pick<APIMessage, "type" | "flags" | "poll">;

/** Whether a message can be forwarded: no poll, no forwarded message, none that only the user sees. */
export function isForwardable(message: Judged): boolean {
  const excluded = MessageFlag.Ephemeral | MessageFlag.Loading | MessageFlag.HasSnapshot;
  return isWritten(message) && message.poll === undefined && ((message.flags ?? 0) & excluded) === 0;
}

/** Whether its author can change the text of a message: no poll, voice message or forwarded message. */
export function isEditable(message: Judged): boolean {
  const excluded = MessageFlag.IsVoiceMessage | MessageFlag.HasSnapshot;
  return isWritten(message) && message.poll === undefined && ((message.flags ?? 0) & excluded) === 0;
}

/** Whether the user can publish a message of an announcement channel that is not published yet. */
export function isPublishable(
  state: State,
  channel: APIChannel | undefined,
  message: Judged & Pick<APIMessage, "author" | "webhook_id">,
): boolean {
  const done = MessageFlag.Crossposted | MessageFlag.IsCrosspost | MessageFlag.Ephemeral;
  if (
    channel?.type !== ChannelType.GuildAnnouncement ||
    !isWritten(message) ||
    message.poll !== undefined ||
    ((message.flags ?? 0) & done) !== 0
  ) {
    return false;
  }
  const permissions = channelPermissions(state, channel, state.user?.id ?? "");
  const isOwn = message.author.id === state.user?.id && message.webhook_id === undefined;
  return has(permissions, Permission.SendMessages) && (isOwn || has(permissions, Permission.ManageMessages));
}

/** Whether the user can send messages to a channel. */
export function maySend(state: State, channel: APIChannel): boolean {
  if (isForum(channel) || channel.type === ChannelType.GuildCategory) {
    return false;
  }
  const permissions = channelPermissions(state, channel, state.user?.id ?? "");
  if (isThread(channel)) {
    return (
      has(permissions, Permission.SendMessagesInThreads) &&
      (!isLocked(channel) || has(permissions, Permission.ManageThreads))
    );
  }
  return has(permissions, Permission.SendMessages);
}

/** Whether the user can let a channel follow an announcement channel. */
export function mayFollowInto(state: State, target: APIChannel, source: APIChannel): boolean {
  return (
    (target.type === ChannelType.GuildText || target.type === ChannelType.GuildAnnouncement) &&
    target.id !== source.id &&
    has(channelPermissions(state, target, state.user?.id ?? ""), Permission.ManageWebhooks)
  );
}
