import type { ReactNode } from "react";

import { DialogFooter } from "../../ui/DialogFooter";
import { Dialog } from "../../ui/Dialog";
import { ErrorNotice } from "./ErrorNotice";
import { useAction } from "./useAction";

interface ConfirmProps {
  title: string;
  question: string;
  /** The text of the button that does it. */
  confirm: string;
  onConfirm: () => Promise<unknown>;
  onClose: () => void;
  /** Called once it is done, instead of closing the dialog. */
  onDone?: () => void;
  isDisabled?: boolean;
  children?: ReactNode;
}

/** Asks before something that cannot be undone, does it, and stays open if it fails. */
export function Confirm(props: ConfirmProps) {
  const { title, question, confirm, onConfirm, onClose, onDone, isDisabled, children } = props;
  const action = useAction();
  const run = async () => {
    if (await action.run(onConfirm)) {
      (onDone ?? onClose)();
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{question}</p>
      {children}
      <ErrorNotice error={action.error} />
      <DialogFooter
        confirm={confirm}
        kind="danger"
        isDisabled={action.pending || isDisabled === true}
        onConfirm={() => void run()}
        onCancel={onClose}
      />
    </Dialog>
  );
}
