import { ArrowUp } from "lucide-react";
import { Button as AriaButton } from "react-aria-components";
import { useIntl } from "react-intl";

import { Translate, useText } from "../../i18n/translate";

interface UnreadBarProps {
  count: number;
  hasMore: boolean;
  /** When the first new message was sent, in milliseconds since the epoch. */
  since: number;
  onJump: () => void;
  onMarkRead: () => void;
}

/** Says how much is new above the shown messages, and leads there. */
export default function UnreadBar({ count, hasMore, since, onJump, onMarkRead }: UnreadBarProps) {
  const text = useText();
  const intl = useIntl();
  const today = new Date(since).toDateString() === new Date().toDateString();
  const time = intl.formatDate(since, { timeStyle: "short", ...(!today && { dateStyle: "medium" }) });
  return (
    <div className="timeline-unread" role="region" aria-label={text("message.unread.label")}>
      <AriaButton className="timeline-unread-jump" onPress={onJump}>
        <ArrowUp size={16} aria-hidden="true" />
        <span>
          <Translate id={hasMore ? "message.unread.more" : "message.unread"} values={{ count, time }} />
        </span>
      </AriaButton>
      <AriaButton className="timeline-unread-read" onPress={onMarkRead}>
        {text("common.markRead")}
      </AriaButton>
    </div>
  );
}
