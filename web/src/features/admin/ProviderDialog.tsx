import { useState } from "react";

import { createIdentityProvider, modifyIdentityProvider, type IdentityProvider } from "../../api/admin";
import { useText } from "../../i18n/translate";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { useSession } from "../session/session";
import { ReasonDialog } from "./ReasonDialog";

const MAY = ["accounts", "login", "nothing"] as const;
type May = (typeof MAY)[number];

function mayOf({ enabled, creates_accounts }: IdentityProvider): May {
  return !enabled ? "nothing" : creates_accounts ? "accounts" : "login";
}

interface ProviderDialogProps {
  /** The provider to change; null to add one. */
  provider: IdentityProvider | null;
  onDone: () => void;
  onClose: () => void;
}

/** Adds an identity provider, or changes one, whose name and issuer stay. */
export function ProviderDialog({ provider, onDone, onClose }: ProviderDialogProps) {
  const text = useText();
  const { api } = useSession();
  const [name, setName] = useState(provider?.name ?? "");
  const [issuer, setIssuer] = useState(provider?.issuer ?? "");
  const [label, setLabel] = useState(provider?.label ?? "");
  const [clientId, setClientId] = useState(provider?.client_id ?? "");
  const [secret, setSecret] = useState("");
  const [groupsClaim, setGroupsClaim] = useState(provider?.groups_claim ?? "groups");
  const [usernameClaim, setUsernameClaim] = useState(provider?.username_claim ?? "preferred_username");
  const [may, setMay] = useState<May>(provider === null ? "accounts" : mayOf(provider));
  const confirm = async (reason: string) => {
    const claims = { groups_claim: groupsClaim.trim(), username_claim: usernameClaim.trim() };
    const rights = { creates_accounts: may === "accounts" };
    if (provider === null) {
      const fields = { name: name.trim(), issuer: issuer.trim(), client_id: clientId.trim() };
      const optional = { ...(label.trim() !== "" && { label: label.trim() }), client_secret: secret || null };
      await createIdentityProvider(api, { ...fields, ...optional, ...claims, ...rights }, reason);
      return;
    }
    const changes = {
      label: label.trim() || provider.name,
      client_id: clientId.trim(),
      enabled: may !== "nothing",
      ...(secret !== "" && { client_secret: secret }),
      ...claims,
      // Who cannot log in at all keeps what was chosen before.
      ...(may !== "nothing" && rights),
    };
    await modifyIdentityProvider(api, provider.id, changes, reason);
  };
  const title = text(provider === null ? "admin.provider.add" : "admin.provider.change");
  return (
    <ReasonDialog title={title} onConfirm={confirm} onDone={onDone} onClose={onClose}>
      {provider === null && (
        <>
          <TextField
            label={text("admin.provider.name")}
            hint={text("admin.provider.name.hint")}
            value={name}
            onChange={setName}
            maxLength={32}
            isRequired
          />
          <TextField
            label={text("admin.provider.issuer")}
            hint={text("admin.provider.issuer.hint")}
            value={issuer}
            onChange={setIssuer}
            maxLength={512}
            isRequired
          />
        </>
      )}
      <TextField label={text("admin.provider.label")} value={label} onChange={setLabel} maxLength={64} />
      <TextField
        label={text("admin.provider.client_id")}
        value={clientId}
        onChange={setClientId}
        maxLength={255}
        isRequired
      />
      <TextField
        label={text("admin.provider.secret")}
        hint={text("admin.provider.secret.hint")}
        type="password"
        value={secret}
        onChange={setSecret}
        autoComplete="off"
      />
      <TextField
        label={text("admin.provider.username_claim")}
        value={usernameClaim}
        onChange={setUsernameClaim}
        maxLength={128}
      />
      <TextField
        label={text("admin.provider.groups_claim")}
        value={groupsClaim}
        onChange={setGroupsClaim}
        maxLength={128}
      />
      <Select
        label={text("admin.provider.may")}
        value={may}
        options={MAY.filter((each) => provider !== null || each !== "nothing").map(
          (each) => [each, text(`admin.provider.may.${each}`)] as const,
        )}
        onChange={setMay}
      />
    </ReasonDialog>
  );
}
