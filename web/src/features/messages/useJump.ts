import { useCallback, useEffect, useLayoutEffect, useRef, useState, type RefObject } from "react";

import { useSession } from "../session/session";
import { loadAround } from "./history";
import type { RowVirtualizer } from "./place";
import type { Row } from "./rows";

/** What ends a jump: from then on the place is the user's. */
const ACTS = ["wheel", "touchmove", "pointerdown", "keydown"] as const;

interface Jump {
  /** The message that is shown by a jump. */
  targetId: string | null;
  /** Show a message and mark it, loading those around it where it is not loaded. */
  jump: (messageId: string) => void;
  /** Unmark it. */
  clear: () => void;
}

/** Jumps to messages of a channel, first to the one that its address names. `leave` is called before. */
export function useJump(
  channelId: string,
  namedId: string | null,
  rows: readonly Row[],
  scrollerRef: RefObject<HTMLDivElement | null>,
  virtualizer: RowVirtualizer,
  leave: () => void,
): Jump {
  const session = useSession();
  // A new object for each jump, also to the same message.
  const [target, setTarget] = useState(() => (namedId === null ? null : { id: namedId }));
  const jump = useCallback(
    (messageId: string) => {
      leave();
      setTarget({ id: messageId });
      void loadAround(session, channelId, messageId).catch(() => undefined);
    },
    [session, channelId, leave],
  );

  // The messages around the one that the address names are loaded already.
  const [shownName, setShownName] = useState(namedId);
  if (namedId !== shownName) {
    setShownName(namedId);
    setTarget(namedId === null ? null : { id: namedId });
  }

  // Pages that are loaded above move the target: the jump is made again, until the user has acted.
  const endedTarget = useRef<object | null>(null);
  const index = target === null ? -1 : rows.findIndex((row) => row.key === target.id);
  useLayoutEffect(() => {
    if (index >= 0 && endedTarget.current !== target) {
      leave();
      virtualizer.scrollToIndex(index, { align: "center" });
    }
  }, [index, target, virtualizer, leave]);
  useEffect(() => {
    const element = scrollerRef.current;
    if (element === null || target === null) {
      return undefined;
    }
    const end = () => {
      endedTarget.current = target;
    };
    ACTS.forEach((name) => element.addEventListener(name, end, { passive: true }));
    return () => ACTS.forEach((name) => element.removeEventListener(name, end));
  }, [scrollerRef, target]);

  const clear = useCallback(() => setTarget(null), []);
  return { targetId: target?.id ?? null, jump, clear };
}
