import type { APIMessage } from "discord-api-types/v10";

import { MessageType } from "../../api/enums";
import type { MessageList, PendingMessage } from "../../store/state";
import type { BlockedRow } from "./blocked";
import { isSystemLine } from "./systemTypes";

/** Messages of an author within this time stand below one name. */
const GROUP_MS = 7 * 60 * 1000;

/** The beginning of the channel. */
interface StartRow {
  kind: "start";
  key: "start";
  message?: undefined;
}

export interface MessageRow {
  kind: "message";
  key: string;
  message: APIMessage;
  compact: boolean;
  /** The timestamp of the first message of a day. */
  day: string | null;
  /** Whether it is the first one that the user had not read. */
  isFirstNew: boolean;
}

interface PendingRow {
  kind: "pending";
  key: string;
  pending: PendingMessage;
  compact: boolean;
  message?: undefined;
}

export type ChannelRow = StartRow | MessageRow | PendingRow;
export type Row = ChannelRow | BlockedRow;

/** The rows of a channel: its beginning, its loaded messages, and those that are being sent. */
export function buildRows(
  list: MessageList | undefined,
  pending: readonly PendingMessage[],
  channelId: string,
  firstNewId: string | null,
  selfId: string | undefined,
): ChannelRow[] {
  const messages = list?.messages ?? [];
  const rows: ChannelRow[] = messages.map((message, index) => {
    const before = messages[index - 1];
    const day = new Date(message.timestamp).toDateString();
    const newDay = before === undefined || new Date(before.timestamp).toDateString() !== day;
    return {
      kind: "message",
      key: message.id,
      message,
      compact: !newDay && isGrouped(before, message),
      day: newDay ? message.timestamp : null,
      isFirstNew: message.id === firstNewId,
    };
  });
  if (list?.hasOlder === false) {
    rows.unshift({ kind: "start", key: "start" });
  }
  if (list?.hasNewer !== true) {
    const own = pending.filter((each) => each.channelId === channelId);
    rows.push(...pendingRows(own, messages.at(-1), selfId));
  }
  return rows;
}

/** The rows of what is being sent after the last message of a channel. */
function pendingRows(
  pending: readonly PendingMessage[],
  last: APIMessage | undefined,
  selfId: string | undefined,
): PendingRow[] {
  const isOwnBefore = last !== undefined && last.author.id === selfId && !isSystemLine(last.type);
  // When the user's message before was sent, if nobody has written since.
  const sentBefore = isOwnBefore ? Date.parse(last.timestamp) : 0;
  return pending.map((each, index) => ({
    kind: "pending",
    key: each.nonce,
    pending: each,
    compact:
      each.replyTo === null && each.createdAt - (pending[index - 1]?.createdAt ?? sentBefore) < GROUP_MS,
  }));
}

const PLAIN_TYPES: ReadonlySet<MessageType> = new Set([MessageType.Default, MessageType.ChatInputCommand]);

function isGrouped(before: APIMessage, message: APIMessage): boolean {
  return (
    PLAIN_TYPES.has(message.type) &&
    // The answer to a command says who used it above its author.
    message.interaction_metadata === undefined &&
    before.author.id === message.author.id &&
    // A webhook may have another name and picture in each message.
    before.author.username === message.author.username &&
    before.author.avatar === message.author.avatar &&
    !isSystemLine(before.type) &&
    Date.parse(message.timestamp) - Date.parse(before.timestamp) < GROUP_MS
  );
}

/** How high a row is, in pixels, until it has been drawn. */
export function estimateHeight(row: Row | undefined): number {
  switch (row?.kind) {
    case "start":
      return 90;
    case "message":
    case "pending":
      return row.compact ? 28 : 64;
    default:
      return 64;
  }
}
