import { useCallback, useEffect, useState } from "react";

import { acknowledgeMessage } from "../../api/messages";
import { readPosition, type MessageAck } from "../../store/reading";
import { useAppState, useSession } from "../session/session";
import { unreadSince } from "./unread";

/**
 * The id after which messages are new: that up to which the channel was read when it was opened, or when the user
 * looked away from its newest message. Null for none.
 */
export function useUnread(
  channelId: string,
  isShown: () => boolean,
): { sinceId: string | null; markRead: () => void } {
  const { api, store } = useSession();
  const [sinceId, setSinceId] = useState(() => unreadSince(store.state, store.state.channels[channelId]));

  useEffect(
    () =>
      store.observe((name, data) => {
        if (name === "MESSAGE_ACK") {
          const ack = data as MessageAck;
          if (ack.channel_id === channelId && ack.manual === true) {
            setSinceId(ack.message_id);
          }
          return;
        }
        if (name !== "MESSAGE_CREATE" || (data as { channel_id: string }).channel_id !== channelId) {
          return;
        }
        const channel = store.state.channels[channelId];
        if (channel !== undefined && !(isShown() && document.hasFocus())) {
          const position = readPosition(store.state, channel);
          setSinceId((before) => before ?? position);
        }
      }),
    [store, channelId, isShown],
  );

  const newestId = useAppState((state) => {
    const channel = state.channels[channelId];
    return channel !== undefined && "last_message_id" in channel ? channel.last_message_id : null;
  });
  const markRead = useCallback(() => {
    setSinceId(null);
    if (newestId) {
      store.dispatch("MESSAGE_ACK", { channel_id: channelId, message_id: newestId, mention_count: 0 });
      void acknowledgeMessage(api, channelId, newestId).catch(() => undefined);
    }
  }, [api, store, channelId, newestId]);
  return { sinceId, markRead };
}
