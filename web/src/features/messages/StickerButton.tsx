import type { APIChannel, APIStickerItem } from "discord-api-types/v10";
import { Sticker } from "lucide-react";
import { lazy, Suspense, useState } from "react";
import { Dialog, DialogTrigger, Popover } from "react-aria-components";

import { useText } from "../../i18n/translate";
import { IconButton } from "../../ui/controls";

const StickerPicker = lazy(() => import("./StickerPicker"));

interface StickerButtonProps {
  channel: APIChannel;
  onSelect: (sticker: APIStickerItem) => void;
}

/** A button that opens the sticker picker. */
export function StickerButton({ channel, onSelect }: StickerButtonProps) {
  const text = useText();
  const [open, setOpen] = useState(false);
  return (
    <DialogTrigger isOpen={open} onOpenChange={setOpen}>
      <IconButton label={text("composer.sticker")}>
        <Sticker size={18} />
      </IconButton>
      <Popover className="menu-popover">
        <Dialog aria-label={text("composer.sticker")} className="emoji-dialog">
          <Suspense fallback={<p className="emoji-loading">{text("app.loading")}</p>}>
            <StickerPicker
              channel={channel}
              onSelect={(sticker) => {
                setOpen(false);
                onSelect(sticker);
              }}
            />
          </Suspense>
        </Dialog>
      </Popover>
    </DialogTrigger>
  );
}
