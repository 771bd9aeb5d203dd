import { Ban, RotateCcw } from "lucide-react";
import { useId, useState, type KeyboardEvent } from "react";

import type { MessageId } from "../../../i18n/messages";
import { useText } from "../../../i18n/translate";
import { Button, IconButton } from "../../../ui/controls";
import { combinationOf, isAllowed } from "../../keybinds/combinations";
import { resetKeys, setKeys, useKeybindChanges, useKeybinds } from "../../keybinds/keybinds";
import { Keys, useKeyNames } from "../../keybinds/Keys";
import { conflictsOf, FIXED_KEYS, SHORTCUTS, type Shortcut } from "../../keybinds/shortcuts";
import { useSession } from "../../session/session";

const SCOPES: readonly [Shortcut["scope"], MessageId][] = [
  ["everywhere", "shortcut.everywhere"],
  ["writing", "shortcut.writing"],
];

/** The keys of every shortcut, which can be changed on this device, and those that always do the same. */
export default function Keybinds() {
  const text = useText();
  const { userId } = useSession().account;
  const isChanged = Object.keys(useKeybindChanges()).length > 0;
  return (
    <>
      <section className="preferences-block">
        <p className="field-hint">{text("settings.keybinds.hint")}</p>
        <div className="preferences-actions">
          <Button isDisabled={!isChanged} onPress={() => resetKeys(userId)}>
            {text("settings.keybinds.resetAll")}
          </Button>
        </div>
      </section>
      {SCOPES.map(([scope, title]) => (
        <section key={scope} className="preferences-block">
          <h2>{text(title)}</h2>
          <ul className="keybinds">
            {SHORTCUTS.filter((each) => each.scope === scope).map((shortcut) => (
              <Keybind key={shortcut.id} shortcut={shortcut} />
            ))}
          </ul>
        </section>
      ))}
      <section className="preferences-block">
        <h2>{text("shortcut.always")}</h2>
        <ul className="keybinds">
          {FIXED_KEYS.map(({ keys, text: title }) => (
            <li key={title} className="keybind">
              <span className="keybind-title">{text(title)}</span>
              {keys.map((each) => (
                <Keys key={each} combination={each} />
              ))}
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}

/** A shortcut: its keys, which a press on them lets the user press anew, and what is wrong with them. */
function Keybind({ shortcut }: { shortcut: Shortcut }) {
  const { id } = shortcut;
  const text = useText();
  const names = useKeyNames();
  const noteId = useId();
  const { userId } = useSession().account;
  const keybinds = useKeybinds();
  const isChanged = useKeybindChanges()[id] !== undefined;
  const [recording, setRecording] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const keys = keybinds[id];
  const title = text(shortcut.text);
  const conflicts = conflictsOf(keybinds, id).map((each) => text(each.text));
  const named = (combination: string) => names(combination).join(" + ");
  const stop = () => {
    setRecording(false);
    setRefused(null);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!recording || event.key === "Tab") {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    const combination = combinationOf(event);
    if (event.key === "Escape") {
      stop();
    } else if (combination !== null && (combination === shortcut.keys || isAllowed(combination))) {
      setKeys(userId, id, combination);
      stop();
    } else {
      setRefused(combination);
    }
  };
  const current = keys === null ? text("shortcut.off") : names(keys).join(" ");
  return (
    <li className="keybind">
      <span className="keybind-title">{title}</span>
      <span className="keybind-controls">
        {/* The document's own: React Aria's would take the keys that are recorded as presses. */}
        <button
          type="button"
          className="keybind-keys"
          aria-label={
            recording
              ? `${text("settings.keybinds.recording")} ${text("settings.keybinds.press", { title })}`
              : text("settings.keybinds.change", { title, keys: current })
          }
          aria-pressed={recording}
          aria-describedby={noteId}
          onClick={() => setRecording(true)}
          onKeyDown={onKeyDown}
          onBlur={stop}
        >
          {recording ? (
            text("settings.keybinds.recording")
          ) : keys === null ? (
            <span className="keys-off">{current}</span>
          ) : (
            <Keys combination={keys} />
          )}
        </button>
        <IconButton
          label={text("settings.keybinds.reset", { title })}
          isDisabled={!isChanged}
          onPress={() => resetKeys(userId, id)}
        >
          <RotateCcw size={16} />
        </IconButton>
        <IconButton
          label={text("settings.keybinds.off", { title })}
          isDisabled={keys === null}
          onPress={() => setKeys(userId, id, null)}
        >
          <Ban size={16} />
        </IconButton>
      </span>
      <div id={noteId} className="keybind-note" role="status">
        {recording && <p className="field-hint">{text("settings.keybinds.press", { title })}</p>}
        {refused !== null && (
          <p className="field-error">{text("settings.keybinds.refused", { keys: named(refused) })}</p>
        )}
        {!recording && keys !== null && conflicts.length > 0 && (
          <p className="field-error">
            {text("settings.keybinds.conflict", { keys: named(keys), others: conflicts.join(", ") })}
          </p>
        )}
      </div>
    </li>
  );
}
