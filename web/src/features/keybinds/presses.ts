import type { KeyPress } from "./combinations";

/** A key press with some modifiers, for tests. */
export function press(
  key: string,
  ...modifiers: ("ctrlKey" | "metaKey" | "altKey" | "shiftKey")[]
): KeyPress {
  const none = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
  return { key, ...none, ...Object.fromEntries(modifiers.map((each) => [each, true])) };
}
