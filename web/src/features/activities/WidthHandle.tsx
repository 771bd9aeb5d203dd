import { useLayoutEffect, useState, type KeyboardEvent, type PointerEvent, type RefObject } from "react";

import { useText } from "../../i18n/translate";

const KEY = "moothall.activityWidth";
/** Shares of the window's width, in percent. */
const MIN = 25;
const MAX = 70;
const STANDARD = 45;
const STEP = 5;

/** Whether an Activity has room beside the conversation. */
export function fitsBeside(): boolean {
  return matchMedia("(min-width: 1000px)").matches;
}

/** A share that leaves room for both; the standard one for what is none. */
export function boundedShare(share: number): number {
  return Number.isFinite(share) ? Math.round(Math.min(MAX, Math.max(MIN, share))) : STANDARD;
}

/** The edge of an Activity beside the conversation: dragged, or moved by the arrow keys, it shares the width anew. */
export function WidthHandle({ section }: { section: RefObject<HTMLElement | null> }) {
  const text = useText();
  const [share, setShare] = useState(() => boundedShare(Number(localStorage.getItem(KEY) ?? STANDARD)));
  useLayoutEffect(() => {
    const element = section.current;
    element?.style.setProperty("--activity-share", String(share));
    return () => {
      element?.style.removeProperty("--activity-share");
    };
  }, [section, share]);
  const change = (next: number) => {
    const bounded = boundedShare(next);
    setShare(bounded);
    localStorage.setItem(KEY, String(bounded));
  };
  const isMirrored = () => document.documentElement.dir === "rtl";
  const onPointerMove = (event: PointerEvent<HTMLElement>) => {
    if (event.currentTarget.hasPointerCapture(event.pointerId)) {
      const left = (event.clientX / window.innerWidth) * 100;
      change(isMirrored() ? left : 100 - left);
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const wider = isMirrored() ? "ArrowRight" : "ArrowLeft";
    if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      event.preventDefault();
      change(share + (event.key === wider ? STEP : -STEP));
    }
  };
  return (
    // A separator that is focused and moved is a control.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div
      role="separator"
      // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
      tabIndex={0}
      className="activity-handle"
      aria-label={text("activities.resize")}
      aria-orientation="vertical"
      aria-valuemin={MIN}
      aria-valuemax={MAX}
      aria-valuenow={share}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={onPointerMove}
      onKeyDown={onKeyDown}
    />
  );
}
