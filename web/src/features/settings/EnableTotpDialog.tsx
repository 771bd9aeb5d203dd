import { useState } from "react";

import { ApiError } from "../../api/errors";
import { enableTotp, SECRET_MISSING, type BackupCode } from "../../api/factors";
import { useText } from "../../i18n/translate";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { ActionForm } from "../session/ActionForm";
import { useAppState, useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import { BackupCodes } from "./BackupCodes";
import { QrCode } from "./QrCode";
import { newSecret, otpauthUri } from "./totp";

/** Switches on codes of an app: the password, then the secret with a first code, then the backup codes. */
export default function EnableTotpDialog({ onClose }: { onClose: () => void }) {
  const text = useText();
  const { api, changeToken } = useSession();
  const username = useAppState((state) => state.user?.username ?? "");
  const action = useAction();
  const [password, setPassword] = useState("");
  const [code, setCode] = useState("");
  const [secret, setSecret] = useState<string | null>(null);
  const [enabled, setEnabled] = useState<{ codes: BackupCode[]; goOn: () => void } | null>(null);
  const checkPassword = async () => {
    try {
      await enableTotp(api, { password });
    } catch (error) {
      if (!(error instanceof ApiError && error.code === SECRET_MISSING)) {
        throw error;
      }
      setSecret(newSecret());
    }
  };
  const enable = async () => {
    const { result, goOn } = await changeToken((client) =>
      enableTotp(client, { password, secret: secret ?? "", code }),
    );
    setEnabled({ codes: result.backup_codes, goOn });
  };
  if (enabled !== null) {
    const finish = () => {
      onClose();
      enabled.goOn();
    };
    return <BackupCodes codes={enabled.codes} onClose={finish} />;
  }
  return (
    <Dialog title={text("factors.title")} onClose={onClose}>
      <ActionForm
        action={action}
        shown={["password"]}
        confirm={text(secret === null ? "factors.next" : "factors.enable")}
        isDisabled={secret === null ? password === "" : code === ""}
        onSubmit={() => void action.run(secret === null ? checkPassword : enable)}
        onCancel={onClose}
      >
        {secret === null ? (
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
          <>
            <p>{text("factors.scan")}</p>
            <QrCode text={otpauthUri(secret, username, window.location.host)} label={text("factors.qr")} />
            <p className="field-hint">{text("factors.secret")}</p>
            <code className="totp-secret">{secret.replace(/(.{4})(?=.)/g, "$1 ")}</code>
            <TextField
              key="code"
              label={text("factors.code")}
              hint={text("factors.code.first")}
              value={code}
              onChange={setCode}
              autoFocus
              isRequired
              autoComplete="one-time-code"
            />
          </>
        )}
      </ActionForm>
    </Dialog>
  );
}
