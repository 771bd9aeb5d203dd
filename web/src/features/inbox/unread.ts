import type { APIChannel } from "discord-api-types/v10";

import { guildIdOf } from "../../store/channels";
import { channelPermissions, has } from "../../store/permissions";
import { showsUnread } from "../../store/reading";
import { channelName } from "../../store/selectors";
import type { State } from "../../store/state";
import { Permission } from "../../api/enums";

/** A channel with unread messages. */
export interface UnreadChannel {
  channel: APIChannel;
  name: string;
  guildId: string | null;
  /** Empty for direct messages. */
  guildName: string;
  mentions: number;
  /** The newest message, which is read when it is marked so. */
  messageId: string;
}

/** The channels with unread messages that show as such: those with mentions first, then the latest. */
export function unreadChannels(state: State): UnreadChannel[] {
  const userId = state.user?.id ?? "";
  const unread: UnreadChannel[] = [];
  for (const channel of Object.values(state.channels)) {
    const messageId = "last_message_id" in channel ? channel.last_message_id : null;
    const guildId = guildIdOf(channel);
    const isShown =
      Boolean(messageId) &&
      showsUnread(state, channel) &&
      (guildId === null || has(channelPermissions(state, channel, userId), Permission.ViewChannel));
    if (isShown) {
      unread.push({
        channel,
        name: channelName(state, channel),
        guildId,
        guildName: guildId === null ? "" : (state.guilds[guildId]?.name ?? ""),
        mentions: state.readStates[channel.id]?.mentions ?? 0,
        messageId: messageId ?? "",
      });
    }
  }
  const age = (each: UnreadChannel) => each.messageId.padStart(20, "0");
  return unread.sort((a, b) => b.mentions - a.mentions || age(b).localeCompare(age(a)));
}
