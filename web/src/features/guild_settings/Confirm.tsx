import type { ReactNode } from "react";

import { useText } from "../../i18n/translate";
import { Button, Dialog } from "../../ui/controls";
import { useAction } from "../session/useAction";
import { ErrorNotice } from "./Form";

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
  const text = useText();
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
      <div className="dialog-actions">
        <Button onPress={onClose}>{text("common.cancel")}</Button>
        <Button kind="danger" isDisabled={action.pending || isDisabled === true} onPress={() => void run()}>
          {confirm}
        </Button>
      </div>
    </Dialog>
  );
}
