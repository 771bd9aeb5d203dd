import { useEffectEvent, useLayoutEffect, type RefObject } from "react";

/** What a key does with the message that it was walked to; null for what is not permitted. */
export interface MessageKeys {
  reply: () => void;
  edit: (() => void) | null;
  react: (() => void) | null;
  remove: (() => void) | null;
}

/** Lets single keys act on a message while it has the keyboard's focus. `insideRef` is an element in the message. */
export function useMessageKeys(insideRef: RefObject<HTMLElement | null>, keys: MessageKeys): void {
  const press = useEffectEvent((key: string): boolean => {
    const act = actOf(key, keys);
    act?.();
    return act !== null;
  });
  // Before it is drawn: a key may follow at once.
  useLayoutEffect(() => {
    const message = insideRef.current?.closest<HTMLElement>("article");
    if (!message) {
      return undefined;
    }
    const onKeyDown = (event: KeyboardEvent) => {
      const hasModifier = event.altKey || event.ctrlKey || event.metaKey;
      // A message that was clicked has the focus as well: letters are for the composer then.
      const isWalkedTo = event.target === message && message.matches(":focus-visible");
      if (isWalkedTo && !hasModifier && !event.defaultPrevented && press(event.key)) {
        event.preventDefault();
      }
    };
    message.addEventListener("keydown", onKeyDown);
    return () => message.removeEventListener("keydown", onKeyDown);
  }, [insideRef]);
}

function actOf(key: string, keys: MessageKeys): (() => void) | null {
  switch (key) {
    case "r":
      return keys.reply;
    case "e":
      return keys.edit;
    case "+":
      return keys.react;
    case "Delete":
    case "Backspace":
      return keys.remove;
    default:
      return null;
  }
}
