import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Input, Label, SearchField } from "react-aria-components";
import { useIntl } from "react-intl";

import {
  deleteAdministeredGuild,
  getAdministeredGuild,
  listAdministeredGuilds,
  modifyAdministeredGuild,
  restoreAdministeredGuild,
  type AdministeredGuild,
} from "../../api/admin";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { NumberField } from "../../ui/NumberField";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { useSession } from "../session/session";
import { usePages } from "./pages";
import { ReasonDialog } from "./ReasonDialog";
import { Rows } from "./Rows";

const COLUMNS = [
  "admin.guild.name",
  "admin.guild.owner",
  "admin.guild.members",
  "admin.guild.tier",
  "admin.acts",
] as const;
const TIERS = ["0", "1", "2", "3"] as const;
const STATES = ["present", "deleted"] as const;

type Act = "change" | "delete" | "restore";

const DIALOGS = { change: ChangeDialog, delete: DeleteDialog, restore: RestoreDialog } as const;

/** The guilds of the server: found by name, changed, deleted and restored. */
export default function Guilds() {
  const text = useText();
  const intl = useIntl();
  const [search, setSearch] = useState("");
  const [state, setState] = useState<(typeof STATES)[number]>("present");
  const [open, setOpen] = useState<{ guild: AdministeredGuild; act: Act } | null>(null);
  const filter = { search, deleted: state === "deleted" };
  const { query, rows } = usePages("guilds", filter, listAdministeredGuilds, ({ id }) => id);
  const ActDialog = open === null ? null : DIALOGS[open.act];
  return (
    <div className="admin-page">
      <div className="admin-bar">
        <SearchField className="field" value={search} onChange={setSearch}>
          <Label>{text("admin.guild.search")}</Label>
          <Input dir="auto" />
        </SearchField>
        <Select
          label={text("admin.guild.state")}
          value={state}
          options={STATES.map((each) => [each, text(`admin.guild.state.${each}`)] as const)}
          onChange={setState}
        />
      </div>
      <Rows
        label="admin.guilds"
        columns={COLUMNS}
        query={query}
        rows={rows}
        keyOf={({ id }) => id}
        cells={(guild) => [
          <span key="name" className="admin-name">
            <strong dir="auto">{guild.name}</strong>
            <span>{guild.id}</span>
            {guild.deletes_at !== null && (
              <span className="admin-note">
                {text("admin.user.deletes", {
                  day: intl.formatDate(guild.deletes_at, { dateStyle: "medium" }),
                })}
              </span>
            )}
          </span>,
          <span key="owner" dir="auto">
            {guild.owner_name ?? guild.owner_id}
          </span>,
          intl.formatNumber(guild.member_count),
          intl.formatNumber(guild.premium_tier),
          <span key="acts" className="admin-acts">
            {(guild.deleted_at === null ? (["change", "delete"] as const) : (["restore"] as const)).map(
              (act) => (
                <Button
                  key={act}
                  aria-label={text("admin.act.on", { act: text(`admin.guild.${act}`), name: guild.name })}
                  onPress={() => setOpen({ guild, act })}
                >
                  {text(`admin.guild.${act}`)}
                </Button>
              ),
            )}
          </span>,
        ]}
      />
      {open !== null && ActDialog !== null && <ActDialog guild={open.guild} onClose={() => setOpen(null)} />}
    </div>
  );
}

interface GuildDialogProps {
  guild: AdministeredGuild;
  onClose: () => void;
}

/** Take a guild out of everyone's reach. */
function DeleteDialog({ guild, onClose }: GuildDialogProps) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const confirm = async (reason: string) => {
    await deleteAdministeredGuild(api, guild.id, reason);
    await client.invalidateQueries({ queryKey: [account.userId, "admin"] });
  };
  return (
    <ReasonDialog title={text("admin.guild.delete")} kind="danger" onConfirm={confirm} onClose={onClose}>
      <p>{text("admin.guild.delete.what", { name: guild.name })}</p>
    </ReasonDialog>
  );
}

/** Bring a deleted guild back, with its owner or another one. */
function RestoreDialog({ guild, onClose }: GuildDialogProps) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const [owner, setOwner] = useState(guild.owner_id);
  const confirm = async (reason: string) => {
    const other = owner.trim() === guild.owner_id ? null : owner.trim();
    await restoreAdministeredGuild(api, guild.id, other, reason);
    await client.invalidateQueries({ queryKey: [account.userId, "admin"] });
  };
  return (
    <ReasonDialog title={text("admin.guild.restore")} onConfirm={confirm} onClose={onClose}>
      <p>{text("admin.guild.restore.what", { name: guild.name })}</p>
      <TextField
        label={text("admin.guild.owner_id")}
        hint={text("admin.guild.owner_id.hint")}
        value={owner}
        onChange={setOwner}
      />
    </ReasonDialog>
  );
}

/** What no member can change in their own guild. */
function ChangeDialog({ guild, onClose }: GuildDialogProps) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const [tier, setTier] = useState<(typeof TIERS)[number]>(TIERS[guild.premium_tier] ?? "0");
  const [features, setFeatures] = useState(guild.features.join(", "));
  const [owner, setOwner] = useState(guild.owner_id);
  const [members, setMembers] = useState(guild.max_members);
  const [quota, setQuota] = useState<string | null>(null);
  const confirm = async (reason: string) => {
    const names = features
      .toUpperCase()
      .split(/[\s,]+/)
      .filter((name) => name !== "");
    const changes = {
      features: names,
      premium_tier: Number(tier),
      max_members: members,
      ...(quota !== null && { storage_quota_mb: quota.trim() === "" ? null : Number(quota) }),
      ...(owner.trim() !== guild.owner_id && { owner_id: owner.trim() }),
    };
    await modifyAdministeredGuild(api, guild.id, changes, reason);
    await client.invalidateQueries({ queryKey: [account.userId, "admin"] });
  };
  return (
    <ReasonDialog title={text("admin.guild.change")} onConfirm={confirm} onClose={onClose}>
      <p dir="auto">{guild.name}</p>
      <Select
        label={text("admin.guild.tier")}
        value={tier}
        options={TIERS.map((each) => [each, each] as const)}
        onChange={setTier}
      />
      <TextField
        label={text("admin.guild.features")}
        hint={text("admin.guild.features.hint")}
        value={features}
        onChange={setFeatures}
        multiline
      />
      <TextField
        label={text("admin.guild.owner_id")}
        hint={text("admin.guild.owner_id.hint")}
        value={owner}
        onChange={setOwner}
      />
      <NumberField
        label={text("admin.guild.max_members")}
        value={members}
        onChange={setMembers}
        min={2}
        max={500_000}
      />
      <StorageQuota guildId={guild.id} value={quota} onChange={setQuota} />
    </ReasonDialog>
  );
}

interface StorageQuotaProps {
  guildId: string;
  /** What was typed; null for nothing. */
  value: string | null;
  onChange: (typed: string) => void;
}

/** The quota of a guild's files, which is read once the dialog is open. */
function StorageQuota({ guildId, value, onChange }: StorageQuotaProps) {
  const text = useText();
  const { api, account } = useSession();
  const { data } = useQuery({
    queryKey: [account.userId, "admin", "guild", guildId],
    queryFn: () => getAdministeredGuild(api, guildId),
    retry: false,
    staleTime: 0,
  });
  return (
    <TextField
      label={text("admin.guild.storage_quota")}
      value={value ?? String(data?.storage_quota_mb ?? "")}
      onChange={onChange}
      isDisabled={data === undefined}
    />
  );
}
