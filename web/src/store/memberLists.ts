import { Permission } from "../api/enums";
import type { APIChannel, APIGuildMember, GatewayPresenceUpdate } from "discord-api-types/v10";

import { keyBy, withEntry, type ReadonlyRecord } from "./records";
import type { GuildState, State } from "./state";
import type { ListedRow, MemberGroup, MemberListState } from "./entities";

/** Rows that one range of a subscription has. */
export const RANGE_ROWS = 100;
/** The most ranges that are subscribed to at once. */
const MAX_RANGES = 5;

/** What stands in each place of a list, whether it is loaded or not. */
export type PlacedRow =
  { kind: "heading"; group: MemberGroup } | { kind: "member"; userId: string } | { kind: "unknown" };

export type MemberRange = readonly [first: number, last: number];

interface ListedMember extends APIGuildMember {
  presence: GatewayPresenceUpdate;
}

type Item = { group: MemberGroup } | { member: ListedMember };

type Operation =
  | { op: "SYNC"; range: MemberRange; items: Item[] }
  | { op: "INVALIDATE"; range: MemberRange }
  | { op: "INSERT" | "UPDATE"; index: number; item: Item }
  | { op: "DELETE"; index: number };

export interface MemberListUpdate {
  id: string;
  guild_id: string;
  groups: MemberGroup[];
  ops: Operation[];
}

/** The state after GUILD_MEMBER_LIST_UPDATE, with the members and presences that it brings. */
export function updateMemberList(state: State, data: MemberListUpdate): State {
  const lists = state.memberLists[data.guild_id] ?? {};
  const rows = [...(lists[data.id]?.rows ?? [])];
  for (const operation of data.ops) {
    apply(rows, operation);
  }
  const members = data.ops.flatMap(itemsOf).flatMap((item) => ("member" in item ? [item.member] : []));
  return {
    ...state,
    memberLists: withEntry(
      state.memberLists,
      data.guild_id,
      withEntry(lists, data.id, { groups: data.groups, rows }),
    ),
    ...(members.length > 0 && {
      members: withEntry(state.members, data.guild_id, {
        ...state.members[data.guild_id],
        ...keyBy(members, (member) => member.user.id),
      }),
      users: {
        ...state.users,
        ...keyBy(
          members.map((member) => member.user),
          (user) => user.id,
        ),
      },
      presences: {
        ...state.presences,
        ...keyBy(
          members.map((member) => member.presence),
          (presence) => presence.user.id,
        ),
      },
    }),
  };
}

function itemsOf(operation: Operation): Item[] {
  switch (operation.op) {
    case "SYNC":
      return operation.items;
    case "INSERT":
    case "UPDATE":
      return [operation.item];
    default:
      return [];
  }
}

function apply(rows: (ListedRow | undefined)[], operation: Operation): void {
  switch (operation.op) {
    case "SYNC":
    case "INVALIDATE": {
      const items = itemsOf(operation);
      const [first, last] = operation.range;
      for (let index = first; index <= last; index += 1) {
        const item = items[index - first];
        rows[index] = item && rowOf(item);
      }
      break;
    }
    case "INSERT":
      rows.splice(operation.index, 0, rowOf(operation.item));
      break;
    case "UPDATE":
      rows[operation.index] = rowOf(operation.item);
      break;
    case "DELETE":
      rows.splice(operation.index, 1);
      break;
  }
}

function rowOf(item: Item): ListedRow {
  return "group" in item ? { kind: "group", id: item.group.id } : { kind: "member", id: item.member.user.id };
}

/** The rows of a list in their places: its groups say where the headings stand. */
export function placedRows(list: MemberListState): PlacedRow[] {
  return list.groups.flatMap((group, number): PlacedRow[] => {
    const heading = list.groups.slice(0, number).reduce((sum, each) => sum + each.count + 1, 0);
    return [
      { kind: "heading", group },
      ...Array.from({ length: group.count }, (_unused, index): PlacedRow => {
        const row = list.rows[heading + 1 + index];
        return row?.kind === "member" ? { kind: "member", userId: row.id } : { kind: "unknown" };
      }),
    ];
  });
}

/** The ranges to subscribe to while the rows from `first` to `last` are shown: the first one, and those around. */
export function rangesFor(first: number, last: number): MemberRange[] {
  const numbers = new Set([0]);
  const end = Math.floor((last + RANGE_ROWS / 4) / RANGE_ROWS);
  for (
    let number = Math.floor(Math.max(first - RANGE_ROWS / 4, 0) / RANGE_ROWS);
    number <= end;
    number += 1
  ) {
    numbers.add(number);
  }
  return [...numbers]
    .slice(0, MAX_RANGES)
    .map((number) => [number * RANGE_ROWS, (number + 1) * RANGE_ROWS - 1] as const);
}

/** The id of the list of a channel: those with the same viewers share one. A thread has its parent's. */
export function memberListId(
  guild: GuildState,
  channel: APIChannel,
  channels: ReadonlyRecord<APIChannel>,
): string {
  const source = listedChannel(channel, channels);
  const overwrites = ("permission_overwrites" in source ? source.permission_overwrites : undefined) ?? [];
  const isPublic =
    (BigInt(guild.roles[guild.id]?.permissions ?? 0) & Permission.ViewChannel) !== 0n &&
    !overwrites.some((overwrite) => BigInt(overwrite.deny) & Permission.ViewChannel);
  if (isPublic) {
    return "everyone";
  }
  const tokens = overwrites.flatMap((overwrite) =>
    BigInt(overwrite.allow) & Permission.ViewChannel
      ? [`allow:${overwrite.id}`]
      : BigInt(overwrite.deny) & Permission.ViewChannel
        ? [`deny:${overwrite.id}`]
        : [],
  );
  return String(murmur3(tokens.sort().join(",")));
}

/** The channel whose members are listed beside a channel: itself, or the parent of a thread. */
export function listedChannel(channel: APIChannel, channels: ReadonlyRecord<APIChannel>): APIChannel {
  const isThread = "thread_metadata" in channel && channel.thread_metadata !== undefined;
  const parent = isThread && "parent_id" in channel ? channels[channel.parent_id ?? ""] : undefined;
  return parent ?? channel;
}

/** MurmurHash3, x86, 32 bits, seed 0, of an ASCII text. */
export function murmur3(text: string): number {
  const byte = (index: number) => text.charCodeAt(index) & 0xff;
  const whole = text.length & ~3;
  let hash = 0;
  for (let index = 0; index < whole; index += 4) {
    const block = byte(index) | (byte(index + 1) << 8) | (byte(index + 2) << 16) | (byte(index + 3) << 24);
    hash = (Math.imul(rotate(hash ^ mix(block), 13), 5) + 0xe6546b64) | 0;
  }
  if (whole < text.length) {
    let block = 0;
    for (let index = text.length - 1; index >= whole; index -= 1) {
      block = (block << 8) | byte(index);
    }
    hash ^= mix(block);
  }
  hash ^= text.length;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function mix(block: number): number {
  return Math.imul(rotate(Math.imul(block, 0xcc9e2d51), 15), 0x1b873593);
}

function rotate(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
