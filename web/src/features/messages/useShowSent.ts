import { useEffect, useEffectEvent, useRef } from "react";

import { useAppState } from "../session/session";

/** Show the end of a channel when the user sends something, wherever they have scrolled to. */
export function useShowSent(channelId: string, showEnd: () => void): void {
  const nonce = useAppState((state) => state.pending.findLast((each) => each.channelId === channelId)?.nonce);
  const shownNonce = useRef(nonce);
  const onSent = useEffectEvent(showEnd);
  useEffect(() => {
    if (nonce !== undefined && nonce !== shownNonce.current) {
      shownNonce.current = nonce;
      onSent();
    }
  }, [nonce]);
}
