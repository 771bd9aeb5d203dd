import type { APIChannel, APIStickerItem } from "discord-api-types/v10";
import { Sticker } from "lucide-react";
import { useState } from "react";

import { useText } from "../../i18n/translate";
import { IconButton } from "../../ui/controls";
import { Panel, PanelLoading } from "../../ui/Panel";
import { loaded } from "../../ui/loaded";

const StickerPicker = loaded(() => import("./StickerPicker"));

interface StickerButtonProps {
  channel: APIChannel;
  onSelect: (sticker: APIStickerItem) => void;
}

/** A button that opens the sticker picker. */
export function StickerButton({ channel, onSelect }: StickerButtonProps) {
  const text = useText();
  const [open, setOpen] = useState(false);
  return (
    <Panel
      label={text("composer.sticker")}
      className="emoji-dialog"
      isOpen={open}
      onOpenChange={setOpen}
      trigger={
        <IconButton label={text("composer.sticker")}>
          <Sticker size={18} />
        </IconButton>
      }
    >
      <StickerPicker
        fallback={<PanelLoading wide />}
        channel={channel}
        onSelect={(sticker) => {
          setOpen(false);
          onSelect(sticker);
        }}
      />
    </Panel>
  );
}
