import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import {
  checkIdentityProvider,
  deleteIdentityProvider,
  listIdentityProviders,
  type IdentityProvider,
} from "../../api/admin";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { SettingsSkeleton } from "../shell/SettingsFrame";
import { ProviderDialog } from "./ProviderDialog";
import { ProviderGroups } from "./ProviderGroups";
import { ReasonDialog } from "./ReasonDialog";

type Open = { act: "add" } | { act: "change" | "remove" | "groups"; provider: IdentityProvider };

/** The identity providers that people log in with, and what their groups give. */
export default function Providers() {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const [open, setOpen] = useState<Open | null>(null);
  const query = useQuery({
    queryKey: [account.userId, "admin", "providers"],
    queryFn: () => listIdentityProviders(api),
    retry: false,
    staleTime: 0,
  });
  const close = () => setOpen(null);
  const changed = () => {
    close();
    void client.invalidateQueries({ queryKey: [account.userId, "admin"] });
  };
  return (
    <div className="admin-page">
      <ErrorNotice error={query.error} />
      {query.isPending && <SettingsSkeleton />}
      {query.data?.length === 0 && <p className="admin-empty">{text("admin.provider.none")}</p>}
      <ul className="admin-settings" aria-label={text("admin.login")}>
        {(query.data ?? []).map((provider) => (
          <ProviderRow key={provider.id} provider={provider} onOpen={(act) => setOpen({ act, provider })} />
        ))}
      </ul>
      <div>
        <Button kind="primary" onPress={() => setOpen({ act: "add" })}>
          {text("admin.provider.add")}
        </Button>
      </div>
      {open?.act === "add" && <ProviderDialog provider={null} onDone={changed} onClose={close} />}
      {open?.act === "change" && <ProviderDialog provider={open.provider} onDone={changed} onClose={close} />}
      {open?.act === "groups" && <ProviderGroups provider={open.provider} onClose={close} />}
      {open?.act === "remove" && (
        <ReasonDialog
          title={text("admin.provider.remove")}
          kind="danger"
          onConfirm={(reason) => deleteIdentityProvider(api, open.provider.id, reason)}
          onDone={changed}
          onClose={close}
        >
          <p>{text("admin.provider.remove.what", { name: open.provider.label })}</p>
        </ReasonDialog>
      )}
    </div>
  );
}

interface ProviderRowProps {
  provider: IdentityProvider;
  onOpen: (act: "change" | "remove" | "groups") => void;
}

function ProviderRow({ provider, onOpen }: ProviderRowProps) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const [result, setResult] = useState<string | null>(null);
  const check = async () => {
    const { ok, problem, algorithms } = await checkIdentityProvider(api, provider.id);
    setResult(
      ok
        ? text("admin.provider.check.ok", { algorithms: algorithms.join(", ") })
        : text("admin.provider.check.bad", { problem: problem ?? "?" }),
    );
  };
  const named = (act: string) => text("admin.act.on", { act, name: provider.label });
  return (
    <li className="admin-provider">
      <span className="admin-name">
        <strong dir="auto">{provider.label}</strong>
        <span dir="ltr">{provider.issuer}</span>
        <span>{text(provider.enabled ? "admin.provider.enabled" : "admin.provider.disabled")}</span>
        <span>
          {text("admin.provider.redirect")} <code>{provider.redirect_uri}</code>
        </span>
        <span>
          {text("admin.provider.logout")} <code>{provider.logout_uri}</code>
        </span>
        {result !== null && <span role="status">{result}</span>}
        <ErrorNotice error={action.error} />
      </span>
      <span className="admin-acts">
        <Button
          aria-label={named(text("admin.provider.check"))}
          isDisabled={action.pending}
          onPress={() => void action.run(check)}
        >
          {text("admin.provider.check")}
        </Button>
        {(["groups", "change", "remove"] as const).map((act) => (
          <Button key={act} aria-label={named(text(`admin.provider.${act}`))} onPress={() => onOpen(act)}>
            {text(`admin.provider.${act}`)}
          </Button>
        ))}
      </span>
    </li>
  );
}
