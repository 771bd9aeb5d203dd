import { useState, type ReactNode } from "react";

import { useText } from "../../i18n/translate";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { ActionForm } from "../session/ActionForm";
import { useAction } from "../session/useAction";

interface ReasonDialogProps {
  /** Names what is done, also on its button. */
  title: string;
  kind?: "primary" | "danger";
  /** Whether something is left to fill in. */
  isDisabled?: boolean;
  onConfirm: (reason: string) => Promise<unknown>;
  onClose: () => void;
  /** Called when it is done, by default to close the dialog. */
  onDone?: () => void;
  /** What is going to happen. */
  children: ReactNode;
}

/** Asks for the reason of an act, which the log of operators keeps. */
export function ReasonDialog({
  title,
  kind = "primary",
  isDisabled,
  onConfirm,
  onClose,
  onDone = onClose,
  children,
}: ReasonDialogProps) {
  const text = useText();
  const action = useAction();
  const [reason, setReason] = useState("");
  const confirm = async () => {
    if (await action.run(() => onConfirm(reason.trim()))) {
      onDone();
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <ActionForm
        action={action}
        confirm={title}
        kind={kind}
        isDisabled={isDisabled === true || reason.trim() === ""}
        onSubmit={() => void confirm()}
        onCancel={onClose}
      >
        {children}
        <TextField
          label={text("admin.reason")}
          hint={text("admin.reason.hint")}
          value={reason}
          onChange={setReason}
          maxLength={512}
          isRequired
          autoFocus
        />
      </ActionForm>
    </Dialog>
  );
}
