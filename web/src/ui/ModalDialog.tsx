import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";

import type { DialogProps } from "./controls";

/** The code of `Dialog`, which is loaded with the first one. */
export default function ModalDialog({ title, onClose, children, wide = false }: DialogProps) {
  return (
    <ModalOverlay isOpen isDismissable onOpenChange={(open) => !open && onClose()} className="dialog-scrim">
      <Modal className={wide ? "dialog dialog-wide" : "dialog"}>
        <Dialog>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
