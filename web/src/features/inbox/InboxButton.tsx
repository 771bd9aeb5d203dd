import { Inbox } from "lucide-react";

import { useText } from "../../i18n/translate";
import { mentionCount } from "../../store/reading";
import { IconButton } from "../../ui/controls";
import { togglePanel } from "../overlays/panels";
import { useAppState } from "../session/session";
import "./inbox_button.css";

/** Opens the inbox, and says how often the user was mentioned meanwhile. */
export function InboxButton() {
  const text = useText();
  const count = useAppState(mentionCount);
  return (
    <span className="inbox-button">
      <IconButton
        label={count === 0 ? text("inbox.title") : text("inbox.count", { count })}
        onPress={() => togglePanel({ kind: "inbox" }, true)}
      >
        <Inbox size={18} />
      </IconButton>
      {count > 0 && <span className="inbox-dot" aria-hidden="true" />}
    </span>
  );
}
