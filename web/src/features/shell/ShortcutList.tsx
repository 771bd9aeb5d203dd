import { useNavigate } from "@tanstack/react-router";

import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { useKeybinds } from "../keybinds/keybinds";
import { Keys } from "../keybinds/Keys";
import { FIXED_KEYS, SHORTCUTS, type Shortcut } from "../keybinds/shortcuts";
import { rememberScreen } from "./returnPath";

/** The keys of the client. */
export function ShortcutList({ onClose }: { onClose: () => void }) {
  const text = useText();
  const navigate = useNavigate();
  const keybinds = useKeybinds();
  const rows = (scope: Shortcut["scope"]) =>
    SHORTCUTS.filter((each) => each.scope === scope).map(({ id, text: title }) => {
      const keys = keybinds[id];
      return { title: text(title), keys: keys === null ? [] : [keys] };
    });
  const fixed = FIXED_KEYS.map(({ keys, text: title }) => ({ title: text(title), keys }));
  return (
    <Dialog title={text("shortcut.title")} onClose={onClose} wide>
      <h3>{text("shortcut.everywhere")}</h3>
      <Rows rows={rows("everywhere")} />
      <h3>{text("shortcut.writing")}</h3>
      <Rows rows={rows("writing")} />
      <h3>{text("shortcut.always")}</h3>
      <Rows rows={fixed} />
      <div className="dialog-actions">
        <Button
          onPress={() => {
            onClose();
            rememberScreen();
            void navigate({ to: "/app/settings/{-$sectionId}", params: { sectionId: "keybinds" } });
          }}
        >
          {text("shortcut.change")}
        </Button>
        <Button kind="primary" onPress={onClose}>
          {text("common.close")}
        </Button>
      </div>
    </Dialog>
  );
}

function Rows({ rows }: { rows: readonly { title: string; keys: readonly string[] }[] }) {
  const text = useText();
  return (
    <dl className="shortcuts">
      {rows.map(({ title, keys }) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd>
            {keys.length === 0 && <span className="keys-off">{text("shortcut.off")}</span>}
            {keys.map((each) => (
              <Keys key={each} combination={each} />
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
