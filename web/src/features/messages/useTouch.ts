import { useEffect, useRef, type PointerEvent } from "react";

import type { Point } from "../../ui/Menu";

/** So long a finger rests on a message until its menu opens. */
const HOLD_MS = 500;
/** A finger that has moved further scrolls or swipes. */
const SLACK = 10;
/** A swipe as long as this replies. */
const SWIPE = 72;

interface TouchHandlers {
  onPointerDown: (event: PointerEvent<HTMLElement>) => void;
  onPointerMove: (event: PointerEvent<HTMLElement>) => void;
  onPointerUp: (event: PointerEvent<HTMLElement>) => void;
  onPointerCancel: (event: PointerEvent<HTMLElement>) => void;
}

interface Touch {
  x: number;
  y: number;
  /** How far the message was swiped, in pixels. */
  swiped: number;
  timer: ReturnType<typeof setTimeout>;
}

/** Lets a resting finger open the menu of a message, and a swipe to its side reply. */
export function useTouch(onHold: (at: Point) => void, onSwipe: () => void): TouchHandlers {
  const touch = useRef<Touch | null>(null);
  useEffect(() => () => clearTimeout(touch.current?.timer), []);
  const end = (element: HTMLElement) => {
    clearTimeout(touch.current?.timer);
    touch.current = null;
    element.style.translate = "";
  };
  return {
    onPointerDown: (event) => {
      if (event.pointerType !== "touch" || !event.isPrimary || !isPlain(event.target as Element)) {
        return;
      }
      const { clientX: x, clientY: y, currentTarget } = event;
      const timer = setTimeout(() => {
        end(currentTarget);
        onHold({ left: x, top: y });
      }, HOLD_MS);
      touch.current = { x, y, swiped: 0, timer };
    },
    onPointerMove: (event) => {
      const { current } = touch;
      if (current === null || event.pointerType !== "touch") {
        return;
      }
      const x = event.clientX - current.x;
      const y = event.clientY - current.y;
      if (Math.hypot(x, y) > SLACK) {
        clearTimeout(current.timer);
      }
      if (current.swiped === 0 && Math.abs(y) > SLACK) {
        end(event.currentTarget);
        return;
      }
      // Towards the side where lines begin: from the other one, browsers go back.
      const direction = getComputedStyle(event.currentTarget).direction === "rtl" ? 1 : -1;
      current.swiped = Math.abs(x) > SLACK ? Math.min(Math.max(0, x * direction), SWIPE) : current.swiped;
      event.currentTarget.style.translate = `${current.swiped * direction}px`;
    },
    onPointerUp: (event) => {
      const isSwiped = touch.current?.swiped === SWIPE;
      end(event.currentTarget);
      if (isSwiped) {
        onSwipe();
      }
    },
    onPointerCancel: (event) => end(event.currentTarget),
  };
}

/** Whether a touch is for the message, not for a control in it that has uses for touches of its own. */
function isPlain(target: Element): boolean {
  return target.closest("textarea, input, video, audio, [role='slider']") === null;
}
