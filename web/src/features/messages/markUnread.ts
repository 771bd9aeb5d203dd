import type { APIMessage } from "discord-api-types/v10";

import { markUnread } from "../../api/messages";
import { guildIdOf } from "../../store/channels";
import { mentionsUser } from "../../store/settings";
import type { Session } from "../session/session";

/** Mark a message and those after it as unread: here at once, so that nothing marks them as read meanwhile. */
export async function markMessageUnread({ api, store }: Session, message: APIMessage): Promise<void> {
  const channelId = message.channel_id;
  const messages = store.state.messages[channelId]?.messages ?? [];
  const index = messages.findIndex(({ id }) => id === message.id);
  // Without a message before it, that of its own moment.
  const readId = messages[index - 1]?.id ?? String(BigInt(message.id) - 1n);
  const channel = store.state.channels[channelId];
  const guildId = channel === undefined ? null : guildIdOf(channel);
  const after = index < 0 ? [message] : messages.slice(index);
  const mentions = after.filter((each) => mentionsUser(store.state, each, guildId)).length;
  const before = store.state.readStates[channelId];
  const show = (lastId: string, count: number) =>
    store.dispatch("MESSAGE_ACK", {
      channel_id: channelId,
      message_id: lastId,
      mention_count: count,
      manual: true,
    });
  show(readId, mentions);
  try {
    await markUnread(api, channelId, readId, mentions);
  } catch (error) {
    show(before?.lastMessageId ?? "0", before?.mentions ?? 0);
    throw error;
  }
}
