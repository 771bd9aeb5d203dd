import { useEffect, type RefObject } from "react";

const KEYS: ReadonlySet<string> = new Set(["ArrowDown", "ArrowUp", "ArrowRight", "ArrowLeft", "Home", "End"]);
const MIRRORED_KEYS: ReadonlyMap<string, string> = new Map([
  ["ArrowRight", "ArrowLeft"],
  ["ArrowLeft", "ArrowRight"],
]);

/**
 * Makes the links and buttons of a list one stop of the Tab key, between which the arrows, Home and End move. The
 * stop is the one that was focused last, else the current page's, else the first. What is marked `data-beside` stands
 * in the row before it: the arrows to the right and left lead to it and back. `drawAll` is called before a key moves,
 * where a list draws its last items later.
 */
export function useRovingFocus(container: RefObject<HTMLElement | null>, drawAll?: () => void): void {
  useEffect(() => {
    const list = container.current;
    if (list === null) {
      return undefined;
    }
    let last: Element | null = null;
    const items = () => [...list.querySelectorAll<HTMLElement>("a[href], button:not([disabled])")];
    const update = () => {
      const all = items();
      const stop =
        all.find((item) => item === document.activeElement) ??
        all.find((item) => item === last) ??
        all.find((item) => item.classList.contains("active")) ??
        all[0];
      for (const item of all) {
        const tabIndex = item === stop ? "0" : "-1";
        if (item.getAttribute("tabindex") !== tabIndex) {
          item.setAttribute("tabindex", tabIndex);
        }
      }
    };
    const onFocus = (event: FocusEvent) => {
      last = event.target as Element;
      update();
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) {
        return;
      }
      if (KEYS.has(event.key)) {
        drawAll?.();
      }
      const all = items();
      const index = all.findIndex((item) => item === document.activeElement);
      const beside = all.map((item) => item.dataset.beside !== undefined);
      const next = index < 0 ? undefined : all[targetOf(keyOf(event, list), index, beside)];
      if (next !== undefined && next !== all[index]) {
        // Before the button's own handler: on buttons with a menu the arrows would open it.
        event.preventDefault();
        event.stopPropagation();
        next.focus();
      }
    };
    update();
    const observer = new MutationObserver(update);
    observer.observe(list, {
      childList: true,
      subtree: true,
      attributes: true,
      attributeFilter: ["class", "href"],
    });
    list.addEventListener("focusin", onFocus);
    list.addEventListener("keydown", onKeyDown, { capture: true });
    return () => {
      observer.disconnect();
      list.removeEventListener("focusin", onFocus);
      list.removeEventListener("keydown", onKeyDown, { capture: true });
    };
  }, [container, drawAll]);
}

/** The key, of which those to the sides are exchanged in a layout from right to left. */
function keyOf({ key }: KeyboardEvent, list: Element): string {
  const isMirrored = getComputedStyle(list).direction === "rtl";
  return isMirrored ? (MIRRORED_KEYS.get(key) ?? key) : key;
}

/** The index that a key leads to, of items of which some stand beside those before them; -1 where it leads nowhere. */
export function targetOf(key: string, index: number, beside: boolean[]): number {
  const isRow = (other: number) => beside[other] === false;
  const indexes = [...beside.keys()];
  switch (key) {
    case "ArrowDown":
      return indexes.findIndex((other) => other > index && isRow(other));
    case "ArrowUp":
      return indexes.findLastIndex((other) => other < index && isRow(other));
    case "ArrowRight":
      return beside[index + 1] === true ? index + 1 : -1;
    case "ArrowLeft":
      return beside[index] === true ? index - 1 : -1;
    case "Home":
      return indexes.findIndex(isRow);
    case "End":
      return indexes.findLastIndex(isRow);
    default:
      return -1;
  }
}
