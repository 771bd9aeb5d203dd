import { useEffect, type RefObject } from "react";

/** Lets the arrow keys walk through the messages of a list, and from the last one down into the composer. */
export function useWalk(scrollerRef: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const list = scrollerRef.current;
    if (list === null) {
      return undefined;
    }
    const onKeyDown = (event: KeyboardEvent) => {
      const isUp = event.key === "ArrowUp";
      const hasModifier = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
      if (event.defaultPrevented || hasModifier || !(isUp || event.key === "ArrowDown")) {
        return;
      }
      const messages = messagesOf(list);
      const index = messages.findIndex((each) => each === event.target);
      if (index < 0 && event.target !== list) {
        return;
      }
      const next = index < 0 ? nearest(list, messages, isUp) : messages[index + (isUp ? -1 : 1)];
      event.preventDefault();
      if (next !== undefined) {
        focusMessage(next);
      } else if (!isUp) {
        list.closest(".conversation")?.querySelector<HTMLElement>(".composer textarea")?.focus();
      }
    };
    list.addEventListener("keydown", onKeyDown);
    return () => list.removeEventListener("keydown", onKeyDown);
  }, [scrollerRef]);
}

/** Give the last message of a conversation the focus. */
export function focusLastMessage(conversation: HTMLElement): void {
  const last = messagesOf(conversation).at(-1);
  if (last !== undefined) {
    focusMessage(last);
  }
}

function messagesOf(element: HTMLElement): HTMLElement[] {
  return [...element.querySelectorAll<HTMLElement>("article.message[tabindex]")];
}

/** The first message in view, or the last one: where the walk begins. */
function nearest(
  list: HTMLElement,
  messages: readonly HTMLElement[],
  isUp: boolean,
): HTMLElement | undefined {
  const { top, bottom } = list.getBoundingClientRect();
  const isInView = (each: HTMLElement) => {
    const box = each.getBoundingClientRect();
    return box.top < bottom && box.bottom > top;
  };
  return isUp ? messages.findLast(isInView) : messages.find(isInView);
}

function focusMessage(message: HTMLElement): void {
  message.focus({ preventScroll: true });
  message.scrollIntoView({ block: "nearest" });
}
