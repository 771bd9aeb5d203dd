import { useText } from "../../i18n/translate";
import { Dialog } from "../../ui/controls";
import { OTHER_SHORTCUTS, SHORTCUTS } from "./shortcuts";
import "./shortcuts.css";

const APPLE = /Mac|iPhone|iPad/.test(navigator.userAgent);
const SIGNS: Readonly<Record<string, string>> = { ArrowUp: "↑", ArrowDown: "↓", Escape: "Esc", Enter: "↵" };

/** The keys of the client. */
export function ShortcutList({ onClose }: { onClose: () => void }) {
  const text = useText();
  return (
    <Dialog title={text("shortcut.title")} onClose={onClose} wide>
      <h3>{text("shortcut.everywhere")}</h3>
      <Keys shortcuts={SHORTCUTS} />
      <h3>{text("shortcut.elsewhere")}</h3>
      <Keys shortcuts={OTHER_SHORTCUTS} />
    </Dialog>
  );
}

function Keys({ shortcuts }: { shortcuts: typeof OTHER_SHORTCUTS }) {
  const text = useText();
  return (
    <dl className="shortcuts">
      {shortcuts.map((shortcut) => (
        <div key={shortcut.text}>
          <dt>{text(shortcut.text)}</dt>
          <dd>
            {shortcut.keys.map((key) => (
              <kbd key={key}>
                {key === "Mod" ? (APPLE ? "⌘" : text("shortcut.ctrl")) : (SIGNS[key] ?? key)}
              </kbd>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
