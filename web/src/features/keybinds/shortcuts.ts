import type { MessageId } from "../../i18n/messages";
import { combinationOf, isAllowed, type Combination, type KeyPress } from "./combinations";

/** Where a shortcut works: on every screen without a dialog, or while a message is written. */
type Scope = "everywhere" | "writing";

interface ShortcutData {
  scope: Scope;
  /** The keys that it has unless the user has chosen others. */
  keys: Combination;
  text: MessageId;
}

const DATA = {
  switcher: { scope: "everywhere", keys: "Mod+K", text: "shortcut.switcher" },
  palette: { scope: "everywhere", keys: "Mod+Shift+P", text: "shortcut.palette" },
  search: { scope: "everywhere", keys: "Mod+F", text: "shortcut.search" },
  shortcuts: { scope: "everywhere", keys: "Mod+/", text: "shortcut.shortcuts" },
  previousChannel: { scope: "everywhere", keys: "Alt+ArrowUp", text: "shortcut.previousChannel" },
  nextChannel: { scope: "everywhere", keys: "Alt+ArrowDown", text: "shortcut.nextChannel" },
  previousUnread: { scope: "everywhere", keys: "Alt+Shift+ArrowUp", text: "shortcut.previousUnread" },
  nextUnread: { scope: "everywhere", keys: "Alt+Shift+ArrowDown", text: "shortcut.nextUnread" },
  previousGuild: { scope: "everywhere", keys: "Mod+Alt+ArrowUp", text: "shortcut.previousGuild" },
  nextGuild: { scope: "everywhere", keys: "Mod+Alt+ArrowDown", text: "shortcut.nextGuild" },
  mute: { scope: "everywhere", keys: "Mod+Shift+M", text: "shortcut.mute" },
  deafen: { scope: "everywhere", keys: "Mod+Shift+D", text: "shortcut.deafen" },
  markRead: { scope: "everywhere", keys: "Escape", text: "shortcut.markRead" },
  editLast: { scope: "writing", keys: "ArrowUp", text: "shortcut.editLast" },
  bold: { scope: "writing", keys: "Mod+B", text: "shortcut.bold" },
  italic: { scope: "writing", keys: "Mod+I", text: "shortcut.italic" },
  underline: { scope: "writing", keys: "Mod+U", text: "shortcut.underline" },
  strike: { scope: "writing", keys: "Mod+Shift+X", text: "shortcut.strike" },
  code: { scope: "writing", keys: "Mod+E", text: "shortcut.code" },
  spoiler: { scope: "writing", keys: "Mod+Shift+S", text: "shortcut.spoiler" },
} as const satisfies Record<string, ShortcutData>;

export type ShortcutId = keyof typeof DATA;
type IdsOf<S extends Scope> = {
  [Id in ShortcutId]: (typeof DATA)[Id]["scope"] extends S ? Id : never;
}[ShortcutId];
export type ShortcutAction = IdsOf<"everywhere">;
export type WritingShortcut = IdsOf<"writing">;

export interface Shortcut extends ShortcutData {
  id: ShortcutId;
}

/** Every shortcut that users can change, in the order of lists. */
export const SHORTCUTS: readonly Shortcut[] = (Object.keys(DATA) as ShortcutId[]).map((id) => ({
  id,
  ...DATA[id],
}));

/** Keys that always do the same, as in other programs. */
export const FIXED_KEYS: readonly { keys: readonly Combination[]; text: MessageId }[] = [
  { keys: ["Tab"], text: "shortcut.nextControl" },
  { keys: ["ArrowUp", "ArrowDown"], text: "shortcut.list" },
  { keys: ["Mod+Shift+ArrowUp", "Mod+Shift+ArrowDown"], text: "shortcut.moveChannel" },
  { keys: ["Escape"], text: "shortcut.close" },
  { keys: ["Enter"], text: "shortcut.send" },
  { keys: ["Shift+Enter"], text: "shortcut.newLine" },
  { keys: ["/"], text: "shortcut.command" },
  { keys: ["+"], text: "shortcut.message.react" },
  { keys: ["R"], text: "shortcut.message.reply" },
  { keys: ["E"], text: "shortcut.message.edit" },
  { keys: ["Delete"], text: "shortcut.message.delete" },
];

/** The keys of each shortcut; null for one that is switched off. */
export type Keybinds = Readonly<Record<ShortcutId, Combination | null>>;

/** What differs from the keys that shortcuts have at first. */
export type KeybindChanges = Readonly<Partial<Keybinds>>;

/** The changes in a stored value; what is damaged or unknown is left out. */
export function readChanges(stored: unknown): KeybindChanges {
  const values = typeof stored === "object" && stored !== null ? (stored as Record<string, unknown>) : {};
  const changes: Partial<Record<ShortcutId, Combination | null>> = {};
  for (const { id, keys } of SHORTCUTS) {
    const value = values[id];
    if (value === null || (typeof value === "string" && value !== keys && isAllowed(value))) {
      changes[id] = value;
    }
  }
  return changes;
}

/** Give a shortcut other keys; null switches it off. */
export function withKeys(changes: KeybindChanges, id: ShortcutId, keys: Combination | null): KeybindChanges {
  return readChanges({ ...changes, [id]: keys });
}

/** The keys of each shortcut, after changes. */
export function keybindsOf(changes: KeybindChanges): Keybinds {
  const initial = Object.fromEntries(SHORTCUTS.map(({ id, keys }) => [id, keys])) as Keybinds;
  return { ...initial, ...changes };
}

/** The shortcuts with the same keys as another one. */
export function conflictsOf(keybinds: Keybinds, id: ShortcutId): readonly Shortcut[] {
  const keys = keybinds[id];
  return keys === null ? [] : SHORTCUTS.filter((each) => each.id !== id && keybinds[each.id] === keys);
}

/** What a key press does anywhere in the client; null for others. */
export function actionOf(press: KeyPress, keybinds: Keybinds): ShortcutAction | null {
  return shortcutOf(press, keybinds, "everywhere") as ShortcutAction | null;
}

/** What a key press does while a message is written; null for others. */
export function writingShortcutOf(press: KeyPress, keybinds: Keybinds): WritingShortcut | null {
  return shortcutOf(press, keybinds, "writing") as WritingShortcut | null;
}

/** The first shortcut of a scope that has the keys of a press. */
function shortcutOf(press: KeyPress, keybinds: Keybinds, scope: Scope): ShortcutId | null {
  const combination = combinationOf(press);
  if (combination === null) {
    return null;
  }
  return SHORTCUTS.find((each) => each.scope === scope && keybinds[each.id] === combination)?.id ?? null;
}
