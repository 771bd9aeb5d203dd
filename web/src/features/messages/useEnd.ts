import {
  useCallback,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
  type RefObject,
} from "react";

import type { Row } from "./rows";

/** Who is so near to the end, in pixels, reads what is newest. */
const NEAR = 40;
/** Browsers round where a list is. */
const ROUNDING = 2;
/** So long after one of the keys that move it, the focus was moved by it. */
const KEY_MS = 100;
const FOCUS_KEYS: ReadonlySet<string> = new Set(["Tab", "ArrowUp", "ArrowDown"]);

export interface End {
  /** Whether the newest messages were in view when it was rendered last. */
  atEnd: boolean;
  /** Whether the newest messages are more than half a screen below. */
  isFar: boolean;
  /** Go to the end and stay there. */
  follow: () => void;
  /** No longer stay at the end: the list is about to show another place. */
  leave: () => void;
  onScroll: () => void;
}

/**
 * Keeps a list at its end while it is there, whatever grows or becomes smaller, until the user scrolls up. Writes to
 * `shownRef` whether the newest messages are in view. `hasNewer` is whether there are messages after the rows.
 */
export function useEnd(
  scrollerRef: RefObject<HTMLDivElement | null>,
  shownRef: RefObject<boolean>,
  rows: readonly Row[],
  hasNewer: boolean,
  startsAtEnd: boolean,
): End {
  const following = useRef(startsAtEnd);
  /** Where the list was left: a scroll event that reports another place comes from the user, or from the focus. */
  const settledTop = useRef(0);
  const newer = useRef(hasNewer);
  const [distance, setDistance] = useState({ atEnd: startsAtEnd, isFar: false });

  const settle = useCallback(() => {
    const element = scrollerRef.current;
    if (element === null) {
      return;
    }
    if (following.current) {
      element.scrollTo({ top: element.scrollHeight });
    }
    settledTop.current = element.scrollTop;
    const left = distanceToEnd(element);
    const atEnd = left < NEAR && !newer.current;
    const isFar = left > element.clientHeight / 2 || newer.current;
    shownRef.current = atEnd;
    setDistance((before) => (before.atEnd === atEnd && before.isFar === isFar ? before : { atEnd, isFar }));
  }, [scrollerRef, shownRef]);

  // What is added below the end is followed also by who is not quite there.
  const lastKey = useRef(rows.at(-1)?.key);
  useLayoutEffect(() => {
    newer.current = hasNewer;
    const before = lastKey.current;
    lastKey.current = rows.at(-1)?.key;
    const isAppended = before !== lastKey.current && rows.some((row) => row.key === before);
    if (isAppended && shownRef.current && !hasNewer) {
      following.current = true;
    }
  }, [rows, hasNewer, shownRef]);

  // After each rendering: every one may have moved the end.
  useLayoutEffect(settle);

  const onResize = useEffectEvent(() => {
    following.current ||= shownRef.current;
    settle();
  });
  useEffect(() => {
    const element = scrollerRef.current;
    if (element === null) {
      return undefined;
    }
    const observer = new ResizeObserver(onResize);
    observer.observe(element);
    return () => observer.disconnect();
  }, [scrollerRef]);

  const isFocusMoved = useFocusMoves(scrollerRef);
  const take = useCallback(
    (undoes: boolean) => {
      const element = scrollerRef.current;
      if (element === null) {
        return;
      }
      const moved = Math.abs(element.scrollTop - settledTop.current) >= ROUNDING;
      if (moved && undoes) {
        element.scrollTo({ top: settledTop.current });
      } else if (moved) {
        following.current = distanceToEnd(element) < ROUNDING && !newer.current;
      }
      settle();
    },
    [scrollerRef, settle],
  );
  const onScroll = useCallback(() => take(isFocusMoved()), [take, isFocusMoved]);
  // Who presses has scrolled there before the focus moves, though the scroll event comes only with the next frame.
  useEffect(() => {
    const element = scrollerRef.current;
    const onPress = () => take(false);
    element?.addEventListener("pointerdown", onPress, { capture: true });
    return () => element?.removeEventListener("pointerdown", onPress, { capture: true });
  }, [scrollerRef, take]);

  const follow = useCallback(() => {
    following.current = true;
    settle();
  }, [settle]);
  const leave = useCallback(() => {
    following.current = false;
    shownRef.current = false;
  }, [shownRef]);
  return { ...distance, follow, leave, onScroll };
}

function distanceToEnd(element: HTMLElement): number {
  return element.scrollHeight - element.scrollTop - element.clientHeight;
}

/**
 * Answers whether the focus has just come into a list other than by the keys that move it: by a press, or back from a
 * menu that was closed. The browser scrolls the list to it, which nobody has asked for.
 */
function useFocusMoves(scrollerRef: RefObject<HTMLElement | null>): () => boolean {
  const hasMoved = useRef(false);
  useEffect(() => {
    const element = scrollerRef.current;
    if (element === null) {
      return undefined;
    }
    let movedAt = -Infinity;
    const onKeyDown = (event: KeyboardEvent) => {
      movedAt = FOCUS_KEYS.has(event.key) ? event.timeStamp : movedAt;
    };
    const onFocus = (event: FocusEvent) => {
      if (event.timeStamp - movedAt > KEY_MS) {
        hasMoved.current = true;
        // Frames begin with the scroll events of what has happened before.
        requestAnimationFrame(() => {
          hasMoved.current = false;
        });
      }
    };
    document.addEventListener("keydown", onKeyDown, { capture: true });
    element.addEventListener("focusin", onFocus);
    return () => {
      document.removeEventListener("keydown", onKeyDown, { capture: true });
      element.removeEventListener("focusin", onFocus);
    };
  }, [scrollerRef]);
  return useCallback(() => hasMoved.current, []);
}
