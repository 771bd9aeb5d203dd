import type { MessageId } from "../../i18n/messages";

export type ShortcutAction =
  | "switcher"
  | "shortcuts"
  | "search"
  | "nextChannel"
  | "previousChannel"
  | "nextUnread"
  | "previousUnread"
  | "nextGuild"
  | "previousGuild"
  | "markRead";

/** A key press, as events have it. */
export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

interface Shortcut {
  action: ShortcutAction;
  /** Names of the keys, in the order in which they are pressed. `Mod` is Ctrl, or Cmd on Apple's devices. */
  keys: readonly string[];
  text: MessageId;
}

export const SHORTCUTS: readonly Shortcut[] = [
  { action: "switcher", keys: ["Mod", "K"], text: "shortcut.switcher" },
  { action: "search", keys: ["Mod", "F"], text: "shortcut.search" },
  { action: "shortcuts", keys: ["Mod", "/"], text: "shortcut.shortcuts" },
  { action: "previousChannel", keys: ["Alt", "ArrowUp"], text: "shortcut.previousChannel" },
  { action: "nextChannel", keys: ["Alt", "ArrowDown"], text: "shortcut.nextChannel" },
  { action: "previousUnread", keys: ["Alt", "Shift", "ArrowUp"], text: "shortcut.previousUnread" },
  { action: "nextUnread", keys: ["Alt", "Shift", "ArrowDown"], text: "shortcut.nextUnread" },
  { action: "previousGuild", keys: ["Mod", "Alt", "ArrowUp"], text: "shortcut.previousGuild" },
  { action: "nextGuild", keys: ["Mod", "Alt", "ArrowDown"], text: "shortcut.nextGuild" },
  { action: "markRead", keys: ["Escape"], text: "shortcut.markRead" },
];

/** Keys that work in lists and in texts, which are listed but handled where they apply. */
export const OTHER_SHORTCUTS: readonly { keys: readonly string[]; text: MessageId }[] = [
  { keys: ["ArrowUp", "ArrowDown"], text: "shortcut.list" },
  { keys: ["ArrowUp"], text: "shortcut.editLast" },
  { keys: ["Shift", "Enter"], text: "shortcut.newLine" },
  { keys: ["/"], text: "shortcut.command" },
  { keys: ["Mod", "B"], text: "shortcut.bold" },
  { keys: ["Mod", "I"], text: "shortcut.italic" },
  { keys: ["Mod", "U"], text: "shortcut.underline" },
  { keys: ["Mod", "Shift", "X"], text: "shortcut.strike" },
  { keys: ["Mod", "E"], text: "shortcut.code" },
  { keys: ["Mod", "Shift", "S"], text: "shortcut.spoiler" },
];

/** What a key press does anywhere in the client; null for others. */
export function actionOf(press: KeyPress): ShortcutAction | null {
  const shortcut = SHORTCUTS.find(({ keys }) => {
    const key = keys.at(-1) ?? "";
    return (
      press.key.toLowerCase() === key.toLowerCase() &&
      keys.includes("Mod") === (press.ctrlKey || press.metaKey) &&
      keys.includes("Alt") === press.altKey &&
      // On some keyboards the slash needs Shift.
      (key === "/" || keys.includes("Shift") === press.shiftKey)
    );
  });
  return shortcut?.action ?? null;
}

/** The next or previous of some ids, around the end; the first for an unknown one; null for none. */
export function neighbour(ids: readonly string[], current: string | null, by: 1 | -1): string | null {
  if (ids.length === 0) {
    return null;
  }
  const index = current === null ? -1 : ids.indexOf(current);
  const next = index < 0 ? (by === 1 ? 0 : ids.length - 1) : (index + by + ids.length) % ids.length;
  return ids[next] ?? null;
}

/** The next or previous of the ids that are in a set, seen from a current one that may not be. */
export function neighbourIn(
  ids: readonly string[],
  current: string | null,
  by: 1 | -1,
  includes: (id: string) => boolean,
): string | null {
  const start = current === null ? -1 : ids.indexOf(current);
  for (let step = 1; step <= ids.length; step += 1) {
    const index =
      ((((start < 0 && by === -1 ? 0 : start) + by * step) % ids.length) + ids.length) % ids.length;
    const id = ids[index];
    if (id !== undefined && id !== current && includes(id)) {
      return id;
    }
  }
  return null;
}
