import { useState } from "react";

import { replaceBackupCodes, requestBackupCodes, type BackupCode } from "../../api/factors";
import { useText } from "../../i18n/translate";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { ActionForm } from "../session/ActionForm";
import { useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import { BackupCodes } from "./BackupCodes";

/** Makes new backup codes: the password, the key in a mail if one was sent, then the codes. */
export default function BackupCodesDialog({ onClose }: { onClose: () => void }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const [password, setPassword] = useState("");
  const [key, setKey] = useState("");
  const [nonce, setNonce] = useState<string | null>(null);
  const [codes, setCodes] = useState<BackupCode[] | null>(null);
  const replace = async (ticket: string) =>
    setCodes((await replaceBackupCodes(api, ticket, key)).backup_codes);
  const request = async () => {
    const { regenerate_nonce, key_mailed } = await requestBackupCodes(api, password);
    if (key_mailed) {
      setNonce(regenerate_nonce);
    } else {
      await replace(regenerate_nonce);
    }
  };
  if (codes !== null) {
    return <BackupCodes codes={codes} onClose={onClose} />;
  }
  return (
    <Dialog title={text("factors.codes.new")} onClose={onClose}>
      <ActionForm
        action={action}
        shown={["password"]}
        confirm={text(nonce === null ? "factors.next" : "factors.codes.new")}
        isDisabled={nonce === null ? password === "" : key === ""}
        onSubmit={() => void action.run(() => (nonce === null ? request() : replace(nonce)))}
        onCancel={onClose}
      >
        <p>{text("factors.codes.replaced")}</p>
        {nonce === null ? (
          <TextField
            key="password"
            label={text("factors.password")}
            type="password"
            value={password}
            onChange={setPassword}
            autoFocus
            isRequired
            autoComplete="current-password"
            error={fieldError(action.error, "password")}
          />
        ) : (
          <TextField
            key="key"
            label={text("factors.codes.key")}
            hint={text("factors.codes.key.hint")}
            value={key}
            onChange={setKey}
            autoFocus
            isRequired
            autoComplete="off"
          />
        )}
      </ActionForm>
    </Dialog>
  );
}
