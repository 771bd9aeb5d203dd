/**
 * A combination of keys: its modifiers in the order `Mod`, `Alt`, `Shift`, and one key, joined by `+`. `Mod` is Ctrl,
 * or Cmd on Apple's devices. Letters are large; `Plus` and `Space` stand for themselves.
 */
export type Combination = string;

/** A key press, as events have it. */
export interface KeyPress {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
  getModifierState?(key: "AltGraph"): boolean;
}

const MODIFIERS: ReadonlySet<string> = new Set([
  "Alt",
  "AltGraph",
  "CapsLock",
  "Control",
  "Fn",
  "Hyper",
  "Meta",
  "NumLock",
  "OS",
  "ScrollLock",
  "Shift",
  "Super",
]);
const NO_KEYS: ReadonlySet<string> = new Set(["", "Dead", "Process", "Unidentified"]);
const NAMES: Readonly<Record<string, string>> = { "+": "Plus", " ": "Space" };

/** Keys with a name that shortcuts may have without Ctrl, Cmd or Alt: they write nothing and move nothing. */
const ALONE = /^(?:Escape|Pause|F\d{1,2})$/;

/** What text fields and browsers do with keys that no shortcut may take from them. */
const RESERVED: ReadonlySet<Combination> = new Set([
  ...["A", "C", "V", "X", "Y", "Z"].map((key) => `Mod+${key}`),
  ...["V", "Z"].map((key) => `Mod+Shift+${key}`),
  ...["L", "N", "Q", "R", "T", "W", "Tab", "F4", "Plus", "-", "0"].map((key) => `Mod+${key}`),
  ...["N", "R", "T", "W", "Tab"].map((key) => `Mod+Shift+${key}`),
  ...[
    "ArrowLeft",
    "ArrowRight",
    "ArrowUp",
    "ArrowDown",
    "Home",
    "End",
    "Backspace",
    "Delete",
    "Enter",
  ].flatMap((key) => [`Mod+${key}`, `Mod+Shift+${key}`]),
  ...["ArrowLeft", "ArrowRight", "Tab", "Shift+Tab", "F4"].map((key) => `Alt+${key}`),
  ...["F5", "F11", "F12"],
]);

/** The combination of a key press; null for a modifier alone, and for what is typed with AltGr or an input method. */
export function combinationOf(press: KeyPress): Combination | null {
  if (MODIFIERS.has(press.key) || NO_KEYS.has(press.key) || press.getModifierState?.("AltGraph") === true) {
    return null;
  }
  const key = press.key.length === 1 ? press.key.toUpperCase() : press.key;
  // Which signs need Shift depends on the keyboard: the slash does on some.
  const isSign = key.length === 1 && key !== " " && key.toLowerCase() === key;
  return [
    (press.ctrlKey || press.metaKey) && "Mod",
    press.altKey && "Alt",
    press.shiftKey && !isSign && "Shift",
    NAMES[key] ?? key,
  ]
    .filter((each) => each !== false)
    .join("+");
}

/** Whether a shortcut may have a combination: writing, moving and what browsers do keep their keys. */
export function isAllowed(combination: Combination): boolean {
  const parts = combination.split("+");
  const hasModifier = parts[0] === "Mod" || parts[0] === "Alt";
  return (hasModifier || ALONE.test(parts.at(-1) ?? "")) && !RESERVED.has(combination);
}

/** How keys are called: on Apple's devices by their signs, elsewhere in the user's language. */
export interface KeyNaming {
  apple: boolean;
  ctrl: string;
  shift: string;
  space: string;
}

const SIGNS: Readonly<Record<string, string>> = {
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
  Escape: "Esc",
  Enter: "↵",
  Plus: "+",
};

/** The names of the keys of a combination, in the order in which they are pressed. */
export function keyNames(combination: Combination, { apple, ctrl, shift, space }: KeyNaming): string[] {
  const names: Readonly<Record<string, string>> = {
    ...SIGNS,
    Mod: apple ? "⌘" : ctrl,
    Alt: apple ? "⌥" : "Alt",
    Shift: apple ? "⇧" : shift,
    Space: space,
  };
  return combination.split("+").map((key) => names[key] ?? key);
}

/** A combination as the attribute `aria-keyshortcuts` has it. */
export function ariaKeys(combination: Combination, apple: boolean): string {
  return combination
    .split("+")
    .map((key) => (key === "Mod" ? (apple ? "Meta" : "Control") : key))
    .join("+");
}
