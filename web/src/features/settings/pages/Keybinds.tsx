import type { MessageId } from "../../../i18n/messages";
import { useText } from "../../../i18n/translate";

/** The keys that do something, by where they do. */
const KEYBINDS: readonly { title: MessageId; rows: readonly [MessageId, readonly string[]][] }[] = [
  {
    title: "settings.keybinds.everywhere",
    rows: [
      ["settings.keybinds.next", ["Tab"]],
      ["settings.keybinds.arrows", ["↑", "↓"]],
      ["settings.keybinds.close", ["Esc"]],
    ],
  },
  {
    title: "settings.keybinds.writing",
    rows: [
      ["settings.keybinds.send", ["Enter"]],
      ["settings.keybinds.line", ["Shift", "Enter"]],
      ["settings.keybinds.edit", ["↑"]],
      ["settings.keybinds.cancel", ["Esc"]],
    ],
  },
];

/** Every key with what it does. */
export default function Keybinds() {
  const text = useText();
  return KEYBINDS.map((group) => (
    <section key={group.title} className="preferences-block">
      <h2>{text(group.title)}</h2>
      <table className="keybinds">
        <tbody>
          {group.rows.map(([id, keys]) => (
            <tr key={id}>
              <th scope="row">{text(id)}</th>
              <td>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  ));
}
