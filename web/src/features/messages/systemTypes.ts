import { MessageType } from "../../api/enums";

const WRITTEN_TEXTS: ReadonlySet<MessageType> = new Set([
  MessageType.Default,
  MessageType.Reply,
  MessageType.ChatInputCommand,
  MessageType.ContextMenuCommand,
  MessageType.ThreadStarterMessage,
]);

/** What the server writes with a card of its own. */
const CARDS: ReadonlySet<MessageType> = new Set([MessageType.AutoModerationAction, MessageType.PollResult]);

/** Whether people or apps have written a message, rather than the server about what has happened. */
export function isWrittenText(type: MessageType): boolean {
  return WRITTEN_TEXTS.has(type);
}

/** Whether a message is drawn as a line about its author, without their picture. */
export function isSystemLine(type: MessageType): boolean {
  return !isWrittenText(type) && !CARDS.has(type);
}
