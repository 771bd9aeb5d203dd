import { X } from "lucide-react";
import type { ReactNode } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";

import { useText } from "../i18n/translate";
import { IconButton } from "./controls";

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ReactNode;
  wide?: boolean;
}

/** The code of `Dialog`, which is loaded with the first one. */
export default function ModalDialog({ title, onClose, children, wide = false }: DialogProps) {
  const text = useText();
  return (
    <ModalOverlay isOpen isDismissable onOpenChange={(open) => !open && onClose()} className="dialog-scrim">
      <Modal className={wide ? "dialog dialog-wide" : "dialog"}>
        <Dialog>
          <div className="dialog-header">
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            {/* Hidden where the dialog ends with buttons, one of which closes it. */}
            <span className="dialog-close">
              <IconButton label={text("common.close")} onPress={onClose}>
                <X size={18} />
              </IconButton>
            </span>
          </div>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
