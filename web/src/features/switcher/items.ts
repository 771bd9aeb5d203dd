import type { APIChannel } from "discord-api-types/v10";

import { ChannelType } from "../../api/enums";
import { isUnread } from "../../store/reading";
import { guildIdOf, isPrivate, isThread, parentIdOf } from "../../store/channels";
import { channelName } from "../../store/selectors";
import type { State } from "../../store/state";
import { bestMatches, viewableChannels } from "../completion/completion";

/** A place to go to. */
export interface SwitcherItem {
  key: string;
  kind: "channel" | "guild";
  label: string;
  /** The guild, and the category or channel that it is in. */
  detail: string;
  guildId: string | null;
  channel: APIChannel | null;
  unread: boolean;
  mentions: number;
  /** Whether it is listed for having been open lately. */
  isRecent?: boolean;
}

const MAX_ITEMS = 50;
const VOICE: ReadonlySet<ChannelType> = new Set([ChannelType.GuildVoice, ChannelType.GuildStageVoice]);

/** What a query that begins with a sign is limited to. */
const PREFIXES: Readonly<Record<string, (item: SwitcherItem) => boolean>> = {
  "@": ({ channel }) => channel !== null && isPrivate(channel),
  "#": ({ channel }) => channel !== null && !isPrivate(channel) && !VOICE.has(channel.type),
  "!": ({ channel }) => channel !== null && VOICE.has(channel.type),
  "*": ({ kind }) => kind === "guild",
};

/**
 * The places that match a query; without one those with mentions, those that were open lately, those with unread
 * messages, then the latest ones. `keep` leaves out places that are of no use. `recents` are ids of channels, the latest
 * first: the very first is the one that is open.
 */
export function switcherItems(
  state: State,
  query: string,
  keep: (item: SwitcherItem) => boolean = () => true,
  recents: readonly string[] = [],
): SwitcherItem[] {
  const limit = PREFIXES[query[0] ?? ""];
  const text = (limit === undefined ? query : query.slice(1)).trim();
  const items = allItems(state).filter((item) => keep(item) && (limit?.(item) ?? true));
  if (text === "") {
    const places = new Map(recents.slice(1).map((id, index) => [id, index]));
    const placeOf = ({ channel }: SwitcherItem) => places.get(channel?.id ?? "") ?? Infinity;
    return items
      .filter((item) => limit !== undefined || item.kind === "channel")
      .map((item) => ({ ...item, isRecent: placeOf(item) !== Infinity }))
      .sort(
        (a, b) =>
          b.mentions - a.mentions ||
          Number(b.isRecent) - Number(a.isRecent) ||
          (a.isRecent ? placeOf(a) - placeOf(b) : 0) ||
          Number(b.unread) - Number(a.unread) ||
          activityOf(b.channel).localeCompare(activityOf(a.channel)),
      )
      .slice(0, MAX_ITEMS);
  }
  return bestMatches(items, text, (item) => [item.label, `${item.label} ${item.detail}`], MAX_ITEMS);
}

function allItems(state: State): SwitcherItem[] {
  const items: SwitcherItem[] = [];
  for (const guild of Object.values(state.guilds)) {
    items.push({
      key: `guild ${guild.id}`,
      kind: "guild",
      label: guild.name,
      detail: "",
      guildId: guild.id,
      channel: null,
      unread: false,
      mentions: 0,
    });
    items.push(...viewableChannels(state, guild.id).map((channel) => channelItem(state, channel)));
  }
  const direct = Object.values(state.channels).filter(isPrivate);
  return [...items, ...direct.map((channel) => channelItem(state, channel))];
}

function channelItem(state: State, channel: APIChannel): SwitcherItem {
  const guildId = guildIdOf(channel);
  const guildName = guildId === null ? "" : (state.guilds[guildId]?.name ?? "");
  const parent = state.channels[parentIdOf(channel) ?? ""];
  const parentName =
    parent === undefined ? "" : `${isThread(channel) ? "#" : ""}${channelName(state, parent)}`;
  return {
    key: `channel ${channel.id}`,
    kind: "channel",
    label: channelName(state, channel),
    detail: [parentName, guildName].filter((name) => name !== "").join(" · "),
    guildId,
    channel,
    unread: isUnread(state, channel),
    mentions: state.readStates[channel.id]?.mentions ?? 0,
  };
}

/** When something happened in a channel, as a text that sorts. */
function activityOf(channel: APIChannel | null): string {
  const id = channel !== null && "last_message_id" in channel ? channel.last_message_id : null;
  return (id ?? "0").padStart(20, "0");
}
