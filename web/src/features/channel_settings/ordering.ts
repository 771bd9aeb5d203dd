import type { APIChannel } from "discord-api-types/v10";

import { ChannelType } from "../../api/enums";
import { isVoice, parentIdOf } from "../../store/channels";
import type { ChannelGroup } from "../../store/selectors";

/** The channels of a guild in the order of the channel list: each category, then its channels. */
export type Order = readonly APIChannel[];

export interface PositionChange {
  id: string;
  position: number;
  /** Present where the category changes; null for none. */
  parent_id?: string | null;
}

export function orderOf(groups: readonly ChannelGroup[]): Order {
  return groups.flatMap(({ category, channels }) => (category === null ? channels : [category, ...channels]));
}

/**
 * Move a channel before or after another; a category takes its channels along. What is dropped after a category's own
 * row becomes its first channel.
 */
export function moveChannel(order: Order, id: string, targetId: string, side: "before" | "after"): Order {
  const moved = order.find((channel) => channel.id === id);
  if (moved === undefined || id === targetId) {
    return order;
  }
  const block = moved.type === ChannelType.GuildCategory ? blockOf(order, id) : [moved];
  const rest = order.filter((channel) => !block.includes(channel));
  let target = rest.findIndex((channel) => channel.id === targetId);
  if (target < 0) {
    return order;
  }
  if (moved.type === ChannelType.GuildCategory) {
    // Categories stand between the blocks of others, never within one.
    const start = rest.slice(0, target + 1).findLastIndex(isCategory);
    const length = start < 0 ? rest.findIndex(isCategory) : blockOf(rest, rest[start]?.id ?? "").length;
    if (start < 0) {
      target = length < 0 ? rest.length : length;
    } else {
      target = side === "before" ? start : start + length;
    }
    return rest.toSpliced(target, 0, ...block);
  }
  return rest.toSpliced(side === "before" ? target : target + 1, 0, ...block);
}

/** Move a channel, or a category with its channels, by one place up or down; at an end it stays. */
export function moveByOne(order: Order, id: string, direction: -1 | 1): Order {
  const index = order.findIndex((channel) => channel.id === id);
  const moved = order[index];
  if (moved === undefined) {
    return order;
  }
  // Channels to speak in stand below those to write in, whatever their positions say.
  const others = order.filter(
    (channel) => isCategory(channel) || (!isCategory(moved) && isVoice(channel) === isVoice(moved)),
  );
  const target = others[others.indexOf(moved) + direction];
  return target === undefined ? order : moveChannel(order, id, target.id, direction < 0 ? "before" : "after");
}

/** What the server must be told so that its channels have this order. */
export function positionChanges(order: Order): PositionChange[] {
  const changes: PositionChange[] = [];
  const next = { category: 0, text: 0, voice: 0 };
  let parentId: string | null = null;
  for (const channel of order) {
    const kind = isCategory(channel) ? "category" : isVoice(channel) ? "voice" : "text";
    const position = next[kind];
    next[kind] += 1;
    const moves = kind !== "category" && parentIdOf(channel) !== parentId;
    if (moves || ("position" in channel ? channel.position : 0) !== position) {
      changes.push({ id: channel.id, position, ...(moves && { parent_id: parentId }) });
    }
    if (kind === "category") {
      parentId = channel.id;
    }
  }
  return changes;
}

function isCategory(channel: APIChannel): boolean {
  return channel.type === ChannelType.GuildCategory;
}

/** A category with its channels. */
function blockOf(order: Order, categoryId: string): APIChannel[] {
  const start = order.findIndex((channel) => channel.id === categoryId);
  const end = order.findIndex((channel, index) => index > start && isCategory(channel));
  return order.slice(start, end < 0 ? undefined : end);
}
