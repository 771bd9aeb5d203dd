import { useState, type KeyboardEvent } from "react";

import { useText } from "../../../i18n/translate";
import { keyName, setVoiceSettings, useVoiceSettings } from "../../../voice/settings";

/** Keys that leave the control as ever. */
const KEPT: ReadonlySet<string> = new Set(["Tab", "Escape"]);

/** The key of push to talk, which a press on it lets the user press anew. */
export function TalkKey() {
  const text = useText();
  const { key } = useVoiceSettings();
  const [recording, setRecording] = useState(false);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!recording) {
      return;
    }
    if (KEPT.has(event.key)) {
      setRecording(false);
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    setVoiceSettings({ key: { code: event.code, label: event.key } });
    setRecording(false);
  };
  return (
    <div className="stack">
      <div className="keybind">
        <span className="keybind-title">{text("voice.settings.key")}</span>
        {/* The document's own: React Aria's would take the key that is recorded as a press. */}
        <button
          type="button"
          className="keybind-keys"
          aria-label={
            recording
              ? text("voice.settings.key.press")
              : text("voice.settings.key.change", { key: keyName(key) })
          }
          aria-pressed={recording}
          onClick={() => setRecording(true)}
          onKeyDown={onKeyDown}
          onBlur={() => setRecording(false)}
        >
          {recording ? text("voice.settings.key.press") : <kbd>{keyName(key)}</kbd>}
        </button>
      </div>
      <p className="field-hint">{text("voice.settings.key.hint")}</p>
    </div>
  );
}
