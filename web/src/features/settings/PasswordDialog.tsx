import { useState, type ReactNode } from "react";

import { useText } from "../../i18n/translate";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { ActionForm } from "../session/ActionForm";
import { fieldError, useAction } from "../session/useAction";

interface PasswordDialogProps {
  /** Names what is done, also on its button. */
  title: string;
  onConfirm: (password: string) => Promise<unknown>;
  onConfirmed: () => void;
  onClose: () => void;
  /** What is going to happen. */
  children: ReactNode;
}

/** Asks for the password before something is done that cannot be undone at once. */
export function PasswordDialog({ title, onConfirm, onConfirmed, onClose, children }: PasswordDialogProps) {
  const text = useText();
  const action = useAction();
  const [password, setPassword] = useState("");
  const confirm = async () => {
    if (await action.run(() => onConfirm(password))) {
      onConfirmed();
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <ActionForm
        action={action}
        shown={["password"]}
        confirm={title}
        kind="danger"
        isDisabled={password === ""}
        onSubmit={() => void confirm()}
        onCancel={onClose}
      >
        {children}
        <TextField
          label={text("settings.password.current")}
          type="password"
          value={password}
          onChange={setPassword}
          autoFocus
          isRequired
          autoComplete="current-password"
          error={fieldError(action.error, "password")}
        />
      </ActionForm>
    </Dialog>
  );
}
