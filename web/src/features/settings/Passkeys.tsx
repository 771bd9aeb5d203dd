import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import {
  addAuthenticator,
  deleteAuthenticator,
  listAuthenticators,
  type BackupCode,
} from "../../api/factors";
import { hasPasskeys } from "../../api/webauthn";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { TextField } from "../../ui/TextField";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { BackupCodes } from "./BackupCodes";
import { QueryList } from "./QueryList";

/** The user's passkeys and security keys: adding and deleting them. */
export function Passkeys() {
  const text = useText();
  const { api } = useSession();
  const keys = useQuery({ queryKey: ["authenticators"], queryFn: () => listAuthenticators(api) });
  const action = useAction();
  const [name, setName] = useState("");
  const [codes, setCodes] = useState<BackupCode[] | null>(null);
  const add = async () => {
    const { backup_codes } = await addAuthenticator(api, name);
    setName("");
    setCodes(backup_codes.length > 0 ? backup_codes : null);
    await keys.refetch();
  };
  const remove = async (id: string) => {
    await deleteAuthenticator(api, id);
    await keys.refetch();
  };
  return (
    <>
      <h3>{text("factors.passkeys")}</h3>
      <p className="field-hint">{text("factors.passkeys.about")}</p>
      <QueryList query={keys} none={text("factors.passkeys.none")}>
        {(key) => (
          <li key={key.id} className="preferences-row">
            <span className="preferences-text">
              <strong>{key.name}</strong>
            </span>
            <Button isDisabled={action.pending} onPress={() => void action.run(() => remove(key.id))}>
              {text("factors.passkeys.delete", { name: key.name })}
            </Button>
          </li>
        )}
      </QueryList>
      {hasPasskeys() && (
        <>
          <TextField
            label={text("factors.passkeys.name")}
            value={name}
            onChange={setName}
            maxLength={32}
            autoComplete="off"
          />
          <div className="preferences-save">
            <Button isDisabled={action.pending || name === ""} onPress={() => void action.run(add)}>
              {text("factors.passkeys.add")}
            </Button>
          </div>
        </>
      )}
      <ErrorNotice error={action.error} />
      {codes !== null && <BackupCodes codes={codes} onClose={() => setCodes(null)} />}
    </>
  );
}
