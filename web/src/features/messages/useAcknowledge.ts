import { useEffect, useRef } from "react";

import { acknowledgeMessage } from "../../api/messages";
import type { MessageAck } from "../../store/reading";
import { compareIds } from "../../store/records";
import { useAppState, useSession } from "../session/session";

const DELAY_MS = 400;

/**
 * Mark a channel as read up to its newest loaded message, once that has been shown for a moment. `atEnd` is whether it
 * was shown when the component rendered.
 */
export function useAcknowledge(channelId: string, isShown: () => boolean, atEnd: boolean): void {
  const { api, store } = useSession();
  const newestId = useAppState((state) => {
    const list = state.messages[channelId];
    return list === undefined || list.hasNewer ? undefined : list.messages.at(-1)?.id;
  });
  // What the user has marked as unread again stays so, until there is something newer.
  const acknowledgedId = useRef<string | null>(null);
  useEffect(
    () =>
      store.observe((name, data) => {
        const ack = data as MessageAck;
        if (name === "MESSAGE_ACK" && ack.channel_id === channelId && ack.manual === true) {
          acknowledgedId.current = store.state.messages[channelId]?.messages.at(-1)?.id ?? null;
        }
      }),
    [store, channelId],
  );
  useEffect(() => {
    const acknowledge = () => {
      const readId = store.state.readStates[channelId]?.lastMessageId ?? "0";
      if (
        newestId === undefined ||
        newestId === acknowledgedId.current ||
        compareIds(newestId, readId) <= 0
      ) {
        return;
      }
      if (document.visibilityState === "visible" && isShown()) {
        acknowledgedId.current = newestId;
        store.dispatch("MESSAGE_ACK", { channel_id: channelId, message_id: newestId, mention_count: 0 });
        void acknowledgeMessage(api, channelId, newestId).catch(() => undefined);
      }
    };
    const timer = setTimeout(acknowledge, DELAY_MS);
    document.addEventListener("visibilitychange", acknowledge);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", acknowledge);
    };
  }, [api, store, channelId, newestId, isShown, atEnd]);
}
