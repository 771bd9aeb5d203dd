import { Fragment } from "react";

import { useText } from "../../i18n/translate";
import type { KeyHint } from "../../ui/controls";
import { ariaKeys, keyNames, type Combination } from "./combinations";
import { useKeybinds } from "./keybinds";
import type { ShortcutId } from "./shortcuts";
import "./keys.css";

const APPLE = /Mac|iPhone|iPad/.test(navigator.userAgent);

/** A function that names the keys of a combination. */
export function useKeyNames(): (combination: Combination) => string[] {
  const text = useText();
  const naming = {
    apple: APPLE,
    ctrl: text("shortcut.ctrl"),
    shift: text("shortcut.shift"),
    space: text("shortcut.space"),
  };
  return (combination) => keyNames(combination, naming);
}

/** The keys of a shortcut, for the control that does the same; null while it is switched off. */
export function useKeyHint(id: ShortcutId): KeyHint | null {
  const names = useKeyNames();
  const keys = useKeybinds()[id];
  return keys === null ? null : { names: names(keys), attribute: ariaKeys(keys, APPLE) };
}

/** The keys of a combination, drawn as on a keyboard. */
export function Keys({ combination }: { combination: Combination }) {
  const names = useKeyNames();
  return (
    <span className="keys">
      {names(combination).map((name, index) => (
        <Fragment key={name}>
          {index > 0 && " "}
          <kbd>{name}</kbd>
        </Fragment>
      ))}
    </span>
  );
}
