import type {
  APIChannel,
  APIMessage,
  APIThreadChannel,
  APIThreadMember,
  GatewayThreadListSyncDispatchData,
  GatewayThreadMembersUpdateDispatchData,
  GatewayThreadMemberUpdateDispatchData,
} from "discord-api-types/v10";

import { ChannelType, MessageType, Permission } from "../api/enums";
import { guildIdOf, isThread, parentIdOf } from "./channels";
import { channelPermissions, has } from "./permissions";
import {
  compareIds,
  filterEntries,
  keyBy,
  updateEntry,
  withEntry,
  withoutEntry,
  type ReadonlyRecord,
} from "./records";
import type { State } from "./state";

/** Add or change a thread. Payloads without the user's membership leave it as it is. */
export function putThread(state: State, thread: APIThreadChannel): State {
  return { ...state, channels: withEntry(state.channels, thread.id, merged(state, thread)) };
}

/** Add threads of a list, whose memberships come beside them. */
export function putThreads(
  state: State,
  threads: readonly APIThreadChannel[],
  members: readonly APIThreadMember[],
): State {
  if (threads.length === 0) {
    return state;
  }
  const own = keyBy(members, (member) => member.id ?? "");
  const joined = threads.map((thread) => {
    const member = own[thread.id];
    return merged(state, member === undefined ? thread : { ...thread, member });
  });
  return { ...state, channels: { ...state.channels, ...keyBy(joined, (thread) => thread.id) } };
}

export function deleteThread(state: State, threadId: string): State {
  return {
    ...state,
    channels: withoutEntry(state.channels, threadId),
    messages: withoutEntry(state.messages, threadId),
    threadMembers: withoutEntry(state.threadMembers, threadId),
    firstMessages: withoutEntry(state.firstMessages, threadId),
  };
}

/** Replace the active threads of some channels of a guild, or of all of them. */
export function syncThreads(state: State, data: GatewayThreadListSyncDispatchData): State {
  const listed = new Set(data.threads.map((thread) => thread.id));
  const parents = data.channel_ids === undefined ? null : new Set(data.channel_ids);
  const isOutdated = (channel: APIChannel) =>
    isThread(channel) &&
    guildIdOf(channel) === data.guild_id &&
    channel.thread_metadata?.archived !== true &&
    !listed.has(channel.id) &&
    (parents === null || parents.has(parentIdOf(channel) ?? ""));
  const channels = filterEntries(state.channels, (channel) => !isOutdated(channel));
  return putThreads({ ...state, channels }, data.threads, data.members);
}

/** Change the user's own membership of a thread. */
export function updateOwnMember(state: State, data: GatewayThreadMemberUpdateDispatchData): State {
  const { guild_id: _guildId, ...member } = data;
  return mapThread(state, data.id ?? "", (thread) => ({ ...thread, member }));
}

/** Apply joins and leaves. A private thread that the user can no longer reach is removed. */
export function updateMembers(state: State, data: GatewayThreadMembersUpdateDispatchData): State {
  const userId = state.user?.id ?? "";
  const added = data.added_members ?? [];
  const removed = new Set(data.removed_member_ids ?? []);
  const own = added.find((member) => member.user_id === userId);
  const changed = mapThread(state, data.id, (thread) => {
    const counted = { ...thread, member_count: data.member_count };
    if (own !== undefined) {
      return { ...counted, member: own };
    }
    return removed.has(userId) ? withoutMember(counted) : counted;
  });
  const threadMembers = updateEntry(changed.threadMembers, data.id, (members) =>
    filterEntries(
      { ...members, ...keyBy(added, (member) => member.user_id ?? "") },
      (_member, id) => !removed.has(id),
    ),
  );
  const thread = changed.channels[data.id];
  return removed.has(userId) && thread !== undefined && isUnreachable(changed, thread)
    ? deleteThread(changed, data.id)
    : { ...changed, threadMembers };
}

/** Remember the members of a thread that were loaded for a list. */
export function setThreadMembers(state: State, threadId: string, members: readonly APIThreadMember[]): State {
  const byUser = keyBy(members, (member) => member.user_id ?? "");
  return { ...state, threadMembers: withEntry(state.threadMembers, threadId, byUser) };
}

/** Remember the first messages of posts; a post whose first message was deleted has none. */
export function setFirstMessages(state: State, messages: readonly APIMessage[]): State {
  return messages.length === 0
    ? state
    : {
        ...state,
        firstMessages: { ...state.firstMessages, ...keyBy(messages, (message) => message.channel_id) },
      };
}

/** Whether a message began its thread: the counts of the thread leave it out. */
export function isStarter(message: Pick<APIMessage, "id" | "channel_id" | "type">): boolean {
  return message.id === message.channel_id || message.type === MessageType.ThreadStarterMessage;
}

/** Count a new or deleted message of a thread, which no event of the thread announces. */
export function countThreadMessage(channel: APIChannel, by: 1 | -1): APIChannel {
  if (!isThread(channel)) {
    return channel;
  }
  return {
    ...channel,
    message_count: Math.max(0, (channel.message_count ?? 0) + by),
    total_message_sent: (channel.total_message_sent ?? 0) + Math.max(0, by),
  };
}

/** The threads of a channel that the state knows. */
export function threadsOf(channels: ReadonlyRecord<APIChannel>, parentId: string): APIThreadChannel[] {
  return Object.values(channels)
    .filter(isThread)
    .filter((thread) => parentIdOf(thread) === parentId);
}

export function isArchived(thread: APIThreadChannel): boolean {
  return thread.thread_metadata?.archived === true;
}

export function isLocked(thread: APIThreadChannel): boolean {
  return thread.thread_metadata?.locked === true;
}

function merged(state: State, thread: APIThreadChannel): APIThreadChannel {
  const before = state.channels[thread.id];
  const member = thread.member ?? (before !== undefined && isThread(before) ? before.member : undefined);
  return member === undefined ? thread : { ...thread, member };
}

function withoutMember(thread: APIThreadChannel): APIThreadChannel {
  const { member: _member, ...rest } = thread;
  return rest;
}

function isUnreachable(state: State, thread: APIChannel): boolean {
  return (
    thread.type === ChannelType.PrivateThread &&
    !has(channelPermissions(state, thread, state.user?.id ?? ""), Permission.ManageThreads)
  );
}

function mapThread(
  state: State,
  threadId: string,
  update: (thread: APIThreadChannel) => APIThreadChannel,
): State {
  const channels = updateEntry(state.channels, threadId, (channel) =>
    isThread(channel) ? update(channel) : channel,
  );
  return channels === state.channels ? state : { ...state, channels };
}

/** The threads below their channels in the channel list: active ones that the user has joined, and the open ones. */
export function listedThreads(
  channels: ReadonlyRecord<APIChannel>,
  guildId: string,
  openIds: readonly (string | undefined)[],
): ReadonlyMap<string, APIThreadChannel[]> {
  const byParent = new Map<string, APIThreadChannel[]>();
  const listed = Object.values(channels)
    .filter(isThread)
    .filter((thread) => guildIdOf(thread) === guildId)
    .filter((thread) => openIds.includes(thread.id) || (thread.member !== undefined && !isArchived(thread)))
    .sort((a, b) => compareIds(lastActivity(b), lastActivity(a)));
  for (const thread of listed) {
    const parentId = parentIdOf(thread) ?? "";
    byParent.set(parentId, [...(byParent.get(parentId) ?? []), thread]);
  }
  return byParent;
}

/** The id of the newest message of a thread, else its own: both grow with time. */
export function lastActivity(thread: APIThreadChannel): string {
  const newest = thread.last_message_id;
  return newest && compareIds(newest, thread.id) > 0 ? newest : thread.id;
}
