import type { APIMessage, APIReaction } from "discord-api-types/v10";

import { compareIds, updateEntry } from "./records";
import type { MessageList, State } from "./state";

/** At most so many messages of a channel stay loaded; scrolling loads them again. */
export const MAX_LOADED = 500;

/** Replace the loaded part of a channel with a page. */
export function setPage(
  state: State,
  channelId: string,
  newestFirst: readonly APIMessage[],
  { hasOlder, hasNewer }: { hasOlder: boolean; hasNewer: boolean },
): State {
  const list = { messages: newestFirst.toReversed(), hasOlder, hasNewer };
  return { ...state, messages: { ...state.messages, [channelId]: list } };
}

/** Add the page before the loaded part. The newest messages are dropped beyond the maximum. */
export function prependPage(
  state: State,
  channelId: string,
  newestFirst: readonly APIMessage[],
  hasOlder: boolean,
): State {
  return updateList(state, channelId, (list) => {
    const messages = merge(newestFirst.toReversed(), list.messages);
    const hasNewer = list.hasNewer || messages.length > MAX_LOADED;
    return { messages: messages.slice(0, MAX_LOADED), hasOlder, hasNewer };
  });
}

/** Add the page after the loaded part. The oldest messages are dropped beyond the maximum. */
export function appendPage(
  state: State,
  channelId: string,
  newestFirst: readonly APIMessage[],
  hasNewer: boolean,
): State {
  return updateList(state, channelId, (list) => {
    const messages = merge(list.messages, newestFirst.toReversed());
    const hasOlder = list.hasOlder || messages.length > MAX_LOADED;
    return { messages: messages.slice(-MAX_LOADED), hasOlder, hasNewer };
  });
}

/**
 * Add a new message, unless newer ones than the loaded part exist. One that is loaded stays as it is: the response to
 * sending it may come after events that have changed it.
 */
export function addMessage(state: State, message: APIMessage): State {
  const updated = updateList(state, message.channel_id, (list) =>
    list.hasNewer || list.messages.some((each) => each.id === message.id)
      ? list
      : {
          messages: merge(list.messages, [message]).slice(-MAX_LOADED),
          hasOlder: list.hasOlder || list.messages.length >= MAX_LOADED,
          hasNewer: false,
        },
  );
  const nonce = message.nonce === undefined ? null : String(message.nonce);
  return nonce === null || message.author.id !== state.user?.id
    ? updated
    : { ...updated, pending: updated.pending.filter((each) => each.nonce !== nonce) };
}

/** Apply the fields of MESSAGE_UPDATE to a loaded message. */
export function updateMessage(
  state: State,
  fields: Partial<APIMessage> & { id: string; channel_id: string },
): State {
  return mapMessage(state, fields.channel_id, fields.id, (message) => {
    // Reactions are not part of the event's payload as the user sees them.
    const { reactions: _reactions, ...rest } = fields;
    return { ...message, ...rest };
  });
}

export function removeMessages(state: State, channelId: string, ids: readonly string[]): State {
  const removed = new Set(ids);
  return updateList(state, channelId, (list) => ({
    ...list,
    messages: list.messages.filter((message) => !removed.has(message.id)),
  }));
}

interface ReactionChange {
  channel_id: string;
  message_id: string;
  user_id: string;
  emoji: APIReaction["emoji"];
}

export function addReaction(state: State, change: ReactionChange): State {
  const isOwn = change.user_id === state.user?.id;
  return mapMessage(state, change.channel_id, change.message_id, (message) => {
    const reactions = message.reactions ?? [];
    const index = reactions.findIndex((reaction) => isSameEmoji(reaction.emoji, change.emoji));
    const existing = reactions[index];
    if (existing === undefined) {
      const added: APIReaction = {
        count: 1,
        count_details: { burst: 0, normal: 1 },
        me: isOwn,
        me_burst: false,
        emoji: change.emoji,
        burst_colors: [],
      };
      return { ...message, reactions: [...reactions, added] };
    }
    if (isOwn && existing.me) {
      return message;
    }
    return { ...message, reactions: reactions.with(index, recount(existing, 1, isOwn ? true : existing.me)) };
  });
}

export function removeReaction(state: State, change: ReactionChange): State {
  const isOwn = change.user_id === state.user?.id;
  return mapMessage(state, change.channel_id, change.message_id, (message) => {
    const reactions = message.reactions ?? [];
    const index = reactions.findIndex((reaction) => isSameEmoji(reaction.emoji, change.emoji));
    const existing = reactions[index];
    if (existing === undefined || (isOwn && !existing.me)) {
      return message;
    }
    return {
      ...message,
      reactions:
        existing.count <= 1
          ? reactions.toSpliced(index, 1)
          : reactions.with(index, recount(existing, -1, isOwn ? false : existing.me)),
    };
  });
}

/** Remove all reactions of a message, or those with one emoji. */
export function removeAllReactions(
  state: State,
  channelId: string,
  messageId: string,
  emoji?: APIReaction["emoji"],
): State {
  return mapMessage(state, channelId, messageId, (message) => ({
    ...message,
    reactions: emoji ? (message.reactions ?? []).filter((each) => !isSameEmoji(each.emoji, emoji)) : [],
  }));
}

/** Count a vote in a poll, or take it back. */
export function countVote(
  state: State,
  change: { channel_id: string; message_id: string; user_id: string; answer_id: number },
  by: 1 | -1,
): State {
  const isOwn = change.user_id === state.user?.id;
  return mapMessage(state, change.channel_id, change.message_id, (message) => {
    if (message.poll === undefined) {
      return message;
    }
    const counts = message.poll.results?.answer_counts ?? [];
    const index = counts.findIndex((count) => count.id === change.answer_id);
    const existing = counts[index] ?? { id: change.answer_id, count: 0, me_voted: false };
    if (isOwn && existing.me_voted === (by === 1)) {
      return message;
    }
    const counted = {
      ...existing,
      count: Math.max(0, existing.count + by),
      me_voted: isOwn ? by === 1 : existing.me_voted,
    };
    const answerCounts = index < 0 ? [...counts, counted] : counts.with(index, counted);
    const results = {
      is_finalized: message.poll.results?.is_finalized ?? false,
      answer_counts: answerCounts,
    };
    return { ...message, poll: { ...message.poll, results } };
  });
}

export function isSameEmoji(a: APIReaction["emoji"], b: APIReaction["emoji"]): boolean {
  return a.id ? a.id === b.id : !b.id && a.name === b.name;
}

function recount(reaction: APIReaction, by: number, me: boolean): APIReaction {
  const normal = reaction.count_details.normal + by;
  return {
    ...reaction,
    count: reaction.count + by,
    count_details: { ...reaction.count_details, normal },
    me,
  };
}

function updateList(state: State, channelId: string, update: (list: MessageList) => MessageList): State {
  const messages = updateEntry(state.messages, channelId, update);
  return messages === state.messages ? state : { ...state, messages };
}

/** Change a message in the loaded part of its channel, and as the first message of a post. */
function mapMessage(
  state: State,
  channelId: string,
  messageId: string,
  update: (message: APIMessage) => APIMessage,
): State {
  const updated = updateList(state, channelId, (list) => {
    const index = list.messages.findIndex((message) => message.id === messageId);
    const message = list.messages[index];
    return message === undefined ? list : { ...list, messages: list.messages.with(index, update(message)) };
  });
  const first = updated.firstMessages[channelId];
  return first?.id !== messageId
    ? updated
    : { ...updated, firstMessages: { ...updated.firstMessages, [channelId]: update(first) } };
}

/** Two ordered lists as one, each message once; that of the second list wins. */
function merge(first: readonly APIMessage[], second: readonly APIMessage[]): APIMessage[] {
  const byId = new Map([...first, ...second].map((message) => [message.id, message]));
  return [...byId.values()].sort((a, b) => compareIds(a.id, b.id));
}
