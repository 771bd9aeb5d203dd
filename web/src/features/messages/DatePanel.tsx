import { useState, type ReactNode } from "react";

import { useText } from "../../i18n/translate";
import { loaded } from "../../ui/loaded";
import { Panel, PanelLoading } from "../../ui/Panel";

const JumpToDate = loaded(() => import("./JumpToDate"));

interface DatePanelProps {
  channelId: string;
  /** The moment whose day is proposed, in milliseconds since the epoch. */
  time: number;
  onJump: (messageId: string) => void;
  /** The button that opens it. */
  children: ReactNode;
}

/** A small dialog beside a button, which leads to the messages of a day. */
export function DatePanel({ children, ...props }: DatePanelProps) {
  const text = useText();
  const [open, setOpen] = useState(false);
  return (
    <Panel
      label={text("channel.jumpToDate")}
      className="date-panel"
      trigger={children}
      isOpen={open}
      onOpenChange={setOpen}
    >
      <JumpToDate fallback={<PanelLoading />} {...props} onClose={() => setOpen(false)} />
    </Panel>
  );
}
