import type { APIChannel, APIMessage } from "discord-api-types/v10";

import { isThread } from "./channels";
import { isMessageRequest } from "./messageRequests";
import { compareIds, keyBy, withEntry } from "./records";
import { isSilenced } from "./relationships";
import { isChannelMuted, isGuildMuted, mentionsUser } from "./settings";
import type { ReadState, State } from "./state";

const EPOCH_MS = 1_420_070_400_000;

/** An entry of READY's `read_state`, and of MESSAGE_ACK by other names. */
interface ReadStateEntry {
  id: string;
  last_message_id?: string | null;
  mention_count?: number;
  /** Absent for channels. */
  read_state_type?: number;
}

/** READY has the entries in a list, or in an object with their version. */
export function readStates(data: unknown): Record<string, ReadState> {
  const { read_state: value } = data as { read_state?: ReadStateEntry[] | { entries: ReadStateEntry[] } };
  const entries = Array.isArray(value) ? value : (value?.entries ?? []);
  const channels = entries.filter((entry) => (entry.read_state_type ?? 0) === 0);
  const byChannel = keyBy(channels, (entry) => entry.id);
  return Object.fromEntries(
    Object.entries(byChannel).map(([id, entry]) => [
      id,
      { lastMessageId: entry.last_message_id ?? "0", mentions: entry.mention_count ?? 0 },
    ]),
  );
}

export interface MessageAck {
  channel_id: string;
  message_id: string;
  mention_count?: number;
  /** Whether the user has marked the messages after it as unread. */
  manual?: boolean;
}

export function acknowledge(state: State, ack: MessageAck): State {
  const readState = { lastMessageId: ack.message_id, mentions: ack.mention_count ?? 0 };
  return { ...state, readStates: withEntry(state.readStates, ack.channel_id, readState) };
}

/**
 * Count a new message: the user's own ones are read; of others those count that mention the user, and all of direct
 * messages that are not muted. `now` is in milliseconds since the epoch.
 */
export function countMessage(state: State, message: APIMessage, guildId: string | null, now: number): State {
  const before = state.readStates[message.channel_id];
  if (message.author.id === state.user?.id) {
    return acknowledge(state, { channel_id: message.channel_id, message_id: message.id });
  }
  const channel = state.channels[message.channel_id];
  if (channel !== undefined && isMessageRequest(channel)) {
    return state;
  }
  const countsAll = guildId === null && !(channel !== undefined && isChannelMuted(state, channel, now));
  if (isSilenced(state, message.author.id) || !(countsAll || mentionsUser(state, message, guildId))) {
    return state;
  }
  const readState = { lastMessageId: before?.lastMessageId ?? "0", mentions: (before?.mentions ?? 0) + 1 };
  return { ...state, readStates: withEntry(state.readStates, message.channel_id, readState) };
}

/** Whether a channel has messages that the user has not read. Threads that the user has not joined have none. */
export function isUnread(state: State, channel: APIChannel): boolean {
  const newest = "last_message_id" in channel ? channel.last_message_id : null;
  if (!newest) {
    return false;
  }
  if (isThread(channel) && channel.member === undefined) {
    return false;
  }
  return compareIds(newest, readPosition(state, channel)) > 0;
}

/** The id up to which the user has read a channel: without a read state that of the moment when they joined. */
export function readPosition(state: State, channel: APIChannel): string {
  const guildId = "guild_id" in channel ? channel.guild_id : undefined;
  const joinedAt = isThread(channel)
    ? channel.member?.join_timestamp
    : guildId === undefined
      ? null
      : state.guilds[guildId]?.joinedAt;
  return state.readStates[channel.id]?.lastMessageId ?? (joinedAt ? idAt(joinedAt) : "0");
}

/** Whether a channel has unread messages and neither it nor its guild is muted. */
export function showsUnread(state: State, channel: APIChannel): boolean {
  if (!isUnread(state, channel)) {
    return false;
  }
  const guildId = "guild_id" in channel ? channel.guild_id : undefined;
  const now = Date.now();
  return (
    !isChannelMuted(state, channel, now) && (guildId === undefined || !isGuildMuted(state, guildId, now))
  );
}

/** How many unread messages mention the user, direct messages included. */
export function mentionCount(state: Pick<State, "readStates" | "channels">): number {
  return Object.entries(state.readStates).reduce(
    (sum, [id, readState]) => (id in state.channels ? sum + readState.mentions : sum),
    0,
  );
}

/** The first id of a moment (ISO 8601). */
function idAt(timestamp: string): string {
  return (BigInt(Math.max(0, Date.parse(timestamp) - EPOCH_MS)) << 22n).toString();
}
