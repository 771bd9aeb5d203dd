import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Input, Label, SearchField } from "react-aria-components";
import { useIntl } from "react-intl";

import { listAdministeredGuilds, modifyAdministeredGuild, type AdministeredGuild } from "../../api/admin";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
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

/** The guilds of the server: found by name, and what no member can change in their own. */
export default function Guilds() {
  const text = useText();
  const intl = useIntl();
  const [search, setSearch] = useState("");
  const [open, setOpen] = useState<AdministeredGuild | null>(null);
  const { query, rows } = usePages("guilds", search, listAdministeredGuilds, ({ id }) => id);
  return (
    <div className="admin-page">
      <div className="admin-bar">
        <SearchField className="field" value={search} onChange={setSearch}>
          <Label>{text("admin.guild.search")}</Label>
          <Input dir="auto" />
        </SearchField>
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
          </span>,
          <span key="owner" dir="auto">
            {guild.owner_name ?? guild.owner_id}
          </span>,
          intl.formatNumber(guild.member_count),
          intl.formatNumber(guild.premium_tier),
          <span key="acts" className="admin-acts">
            <Button
              aria-label={text("admin.act.on", { act: text("admin.guild.change"), name: guild.name })}
              onPress={() => setOpen(guild)}
            >
              {text("admin.guild.change")}
            </Button>
          </span>,
        ]}
      />
      {open !== null && <GuildDialog guild={open} onClose={() => setOpen(null)} />}
    </div>
  );
}

function GuildDialog({ guild, onClose }: { guild: AdministeredGuild; onClose: () => void }) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const [tier, setTier] = useState<(typeof TIERS)[number]>(TIERS[guild.premium_tier] ?? "0");
  const [features, setFeatures] = useState(guild.features.join(", "));
  const [owner, setOwner] = useState(guild.owner_id);
  const confirm = async (reason: string) => {
    const names = features
      .toUpperCase()
      .split(/[\s,]+/)
      .filter((name) => name !== "");
    const changes = {
      features: names,
      premium_tier: Number(tier),
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
    </ReasonDialog>
  );
}
