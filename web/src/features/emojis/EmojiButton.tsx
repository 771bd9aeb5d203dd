import type { APIChannel } from "discord-api-types/v10";
import { useState, type ReactNode } from "react";
import { flushSync } from "react-dom";

import { IconButton } from "../../ui/controls";
import { Panel, PanelLoading } from "../../ui/Panel";
import { loaded } from "../../ui/loaded";
import type { PickedEmoji } from "./EmojiPicker";

const EmojiPicker = loaded(() => import("./EmojiPicker"));

interface EmojiButtonProps {
  label: string;
  icon: ReactNode;
  /** Where it is used, which decides about the custom emojis. */
  channel: APIChannel | undefined;
  /** Whether it is open, where something else opens it as well. */
  isOpen?: boolean;
  onOpenChange?: (open: boolean) => void;
  onSelect: (emoji: PickedEmoji) => void;
}

/** A button that opens the emoji picker. */
export function EmojiButton({ label, icon, channel, onSelect, ...control }: EmojiButtonProps) {
  const [isOwnOpen, setOwnOpen] = useState(false);
  const { isOpen: open = isOwnOpen, onOpenChange: setOpen = setOwnOpen } = control;
  const select = (emoji: PickedEmoji) => {
    // The picker must be gone before the emoji is written: while it is open, it takes the focus back.
    flushSync(() => setOpen(false));
    onSelect(emoji);
  };
  return (
    <Panel
      label={label}
      className="emoji-dialog"
      isOpen={open}
      onOpenChange={setOpen}
      trigger={<IconButton label={label}>{icon}</IconButton>}
    >
      <EmojiPicker fallback={<PanelLoading />} channel={channel} onSelect={select} />
    </Panel>
  );
}
