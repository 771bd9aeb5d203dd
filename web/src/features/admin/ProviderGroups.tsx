import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import {
  addProviderGroup,
  listProviderGroups,
  removeProviderGroup,
  type IdentityProvider,
  type ProviderGroup,
} from "../../api/admin";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { SettingsSkeleton } from "../shell/SettingsFrame";
import { ReasonDialog } from "./ReasonDialog";

interface ProviderGroupsProps {
  provider: IdentityProvider;
  onClose: () => void;
}

/** What the groups of a provider give. */
export function ProviderGroups({ provider, onClose }: ProviderGroupsProps) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const [open, setOpen] = useState<ProviderGroup | "add" | null>(null);
  const key = [account.userId, "admin", "providers", provider.id];
  const query = useQuery({
    queryKey: key,
    queryFn: () => listProviderGroups(api, provider.id),
    retry: false,
    staleTime: 0,
  });
  const changed = () => {
    setOpen(null);
    void client.invalidateQueries({ queryKey: key });
  };
  const close = () => setOpen(null);
  if (open === "add") {
    return <AddGroup provider={provider} onDone={changed} onClose={close} />;
  }
  if (open !== null) {
    return (
      <ReasonDialog
        title={text("admin.provider.remove")}
        kind="danger"
        onConfirm={(reason) => removeProviderGroup(api, provider.id, open.id, reason)}
        onDone={changed}
        onClose={close}
      >
        <p dir="auto">{groupText(text, open)}</p>
      </ReasonDialog>
    );
  }
  return (
    <Dialog title={text("admin.provider.groups")} onClose={onClose}>
      <p>{text("admin.provider.groups.what")}</p>
      <ErrorNotice error={query.error} />
      {query.isPending && <SettingsSkeleton />}
      <ul className="admin-settings" aria-label={text("admin.provider.groups")}>
        {(query.data ?? []).map((group) => (
          <li key={group.id}>
            <span className="admin-name" dir="auto">
              {groupText(text, group)}
            </span>
            <Button
              aria-label={text("admin.act.on", { act: text("admin.provider.remove"), name: group.name })}
              onPress={() => setOpen(group)}
            >
              {text("admin.provider.remove")}
            </Button>
          </li>
        ))}
      </ul>
      <Button kind="primary" onPress={() => setOpen("add")}>
        {text("admin.provider.group.add")}
      </Button>
    </Dialog>
  );
}

function AddGroup({ provider, onDone, onClose }: ProviderGroupsProps & { onDone: () => void }) {
  const text = useText();
  const { api } = useSession();
  const [name, setName] = useState("");
  const [guildId, setGuildId] = useState("");
  const [roleId, setRoleId] = useState("");
  const body = { name, guild_id: guildId.trim(), role_id: roleId.trim() || null };
  return (
    <ReasonDialog
      title={text("admin.provider.group.add")}
      isDisabled={name === "" || guildId.trim() === ""}
      onConfirm={(reason) => addProviderGroup(api, provider.id, body, reason)}
      onDone={onDone}
      onClose={onClose}
    >
      <TextField label={text("admin.provider.group.name")} value={name} onChange={setName} isRequired />
      <TextField
        label={text("admin.provider.group.guild")}
        value={guildId}
        onChange={setGuildId}
        isRequired
      />
      <TextField
        label={text("admin.provider.group.role")}
        hint={text("admin.provider.group.role.hint")}
        value={roleId}
        onChange={setRoleId}
      />
    </ReasonDialog>
  );
}

function groupText(text: ReturnType<typeof useText>, group: ProviderGroup): string {
  const role = group.role_name ?? group.role_id;
  return role === null
    ? text("admin.provider.group.gives", { group: group.name, guild: group.guild_name })
    : text("admin.provider.group.gives_role", { group: group.name, guild: group.guild_name, role });
}
