import { useState } from "react";

import { finishProof } from "../../api/factors";
import { hasPasskeys, sign } from "../../api/webauthn";
import { useText, WithTexts } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { ActionForm } from "./ActionForm";
import type { PendingProof } from "./proofs";
import { useSession } from "./session";
import { useAction } from "./useAction";

/** Asks for a code, or without a second factor for the password, before something dangerous is done. */
export default function ProofDialog({ pending }: { pending: PendingProof }) {
  return (
    <WithTexts parts={["factors"]}>
      <ProofForm pending={pending} />
    </WithTexts>
  );
}

function ProofForm({ pending: { request, answer } }: { pending: PendingProof }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const [typed, setTyped] = useState("");
  const usesPassword = request.methods.some(({ type }) => type === "password");
  const confirm = () =>
    action.run(async () => {
      answer(await finishProof(api, request.ticket, usesPassword ? "password" : "totp", typed));
    });
  const challenge = request.methods.find(({ type }) => type === "webauthn")?.challenge;
  const proveByKey = (toSign: string) =>
    action.run(async () => {
      answer(await finishProof(api, request.ticket, "webauthn", await sign(toSign)));
    });
  return (
    <Dialog title={text("factors.proof.title")} onClose={() => answer(null)}>
      <ActionForm
        action={action}
        confirm={text("factors.proof.confirm")}
        isDisabled={typed === ""}
        onSubmit={() => void confirm()}
        onCancel={() => answer(null)}
      >
        <p>{text("factors.proof.about")}</p>
        {challenge !== undefined && hasPasskeys() && (
          <div>
            <Button isDisabled={action.pending} onPress={() => void proveByKey(challenge)}>
              {text("auth.passkey.use")}
            </Button>
          </div>
        )}
        <TextField
          label={text(usesPassword ? "factors.password" : "factors.code")}
          {...(!usesPassword && { hint: text("factors.code.hint") })}
          type={usesPassword ? "password" : "text"}
          value={typed}
          onChange={setTyped}
          autoFocus
          isRequired
          autoComplete={usesPassword ? "current-password" : "one-time-code"}
        />
      </ActionForm>
    </Dialog>
  );
}
