import type { APIChannel, APIMessage } from "discord-api-types/v10";

import { isUnread, readPosition } from "../../store/reading";
import { compareIds } from "../../store/records";
import type { MessageList, State } from "../../store/state";

/** The id up to which a channel is read, if it has messages after it; else null. */
export function unreadSince(state: State, channel: APIChannel | undefined): string | null {
  return channel !== undefined && isUnread(state, channel) ? readPosition(state, channel) : null;
}

/** What is new in a channel. */
export interface NewMessages {
  /** The first new message; null while it is not loaded. */
  firstId: string | null;
  /** An id of the moment since which there are new messages, as far as it is known. */
  since: string;
  /** The loaded new messages. */
  count: number;
  /** Whether there are more than the loaded ones. */
  hasMore: boolean;
}

/** The messages of others after an id. */
export function newMessages(
  list: Pick<MessageList, "messages" | "hasOlder" | "hasNewer"> | undefined,
  sinceId: string | null,
  selfId: string | undefined,
): NewMessages {
  if (list === undefined || sinceId === null) {
    return { firstId: null, since: "0", count: 0, hasMore: false };
  }
  const added = list.messages.filter(
    (message) => message.author.id !== selfId && compareIds(message.id, sinceId) > 0,
  );
  const oldestId = added[0]?.id ?? null;
  const reachesBack = !list.hasOlder || isRead(list.messages[0], sinceId);
  return {
    firstId: reachesBack ? oldestId : null,
    since: reachesBack || sinceId === "0" ? (oldestId ?? sinceId) : sinceId,
    count: added.length,
    hasMore: !reachesBack || list.hasNewer,
  };
}

function isRead(message: APIMessage | undefined, sinceId: string): boolean {
  return message !== undefined && compareIds(message.id, sinceId) <= 0;
}
