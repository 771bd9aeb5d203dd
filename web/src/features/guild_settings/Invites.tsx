import type { APIExtendedInvite } from "discord-api-types/v10";
import { Trash2 } from "lucide-react";
import { useState } from "react";

import { Permission } from "../../api/enums";
import { deleteInvite, listGuildInvites } from "../../api/guild_settings";
import { createInvite } from "../../api/guilds";
import { avatarUrl } from "../../api/images";
import { useText } from "../../i18n/translate";
import { has } from "../../store/permissions";
import type { GuildState } from "../../store/state";
import { Avatar, Button, IconButton } from "../../ui/controls";
import { Switch } from "../../ui/fields";
import { Select } from "../../ui/Select";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { fieldError, useAction } from "../session/useAction";
import { Confirm } from "../session/Confirm";
import { CopyButton } from "./CopyButton";
import { useFormats } from "./formats";
import { choices, OPEN_TYPES, useChannelOptions } from "./options";
import { Loaded, useGuildQuery } from "./queries";
import type { SectionProps } from "./section";

const AGES = ["1800", "3600", "21600", "43200", "86400", "604800", "0"] as const;
const USES = ["0", "1", "5", "10", "25", "50", "100"] as const;

/** The invites of a guild: creates, lists and revokes them. */
export default function Invites({ guild, permissions }: SectionProps) {
  const text = useText();
  const { api } = useSession();
  const query = useGuildQuery(guild.id, "invites", listGuildInvites);
  const [revoking, setRevoking] = useState<APIExtendedInvite | null>(null);
  const canRevoke = has(permissions, Permission.ManageGuild);
  return (
    <div className="settings-block">
      {has(permissions, Permission.CreateInstantInvite) && (
        <NewInvite guild={guild} onCreated={() => query.refetch()} />
      )}
      <Loaded query={query}>
        {(invites) =>
          invites.length === 0 ? (
            <p className="settings-empty">{text("guildSettings.invites.empty")}</p>
          ) : (
            <ul className="settings-list" aria-label={text("guildSettings.invites")}>
              {invites.map((invite) => (
                <li key={invite.code} className="settings-row">
                  <InviteSummary invite={invite} />
                  {canRevoke && (
                    <IconButton
                      label={text("guildSettings.invites.revoke", { code: invite.code })}
                      onPress={() => setRevoking(invite)}
                    >
                      <Trash2 size={18} />
                    </IconButton>
                  )}
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
      {revoking !== null && (
        <Confirm
          title={text("guildSettings.invites.revoke", { code: revoking.code })}
          question={text("guildSettings.invites.revoke.question")}
          confirm={text("guildSettings.invites.revoke.confirm")}
          onConfirm={async () => {
            await deleteInvite(api, revoking.code);
            await query.refetch();
          }}
          onClose={() => setRevoking(null)}
        />
      )}
    </div>
  );
}

function InviteSummary({ invite }: { invite: APIExtendedInvite }) {
  const text = useText();
  const { moment } = useFormats();
  const creator = invite.inviter?.global_name ?? invite.inviter?.username;
  const expires = invite.expires_at ?? null;
  // Members who may not manage the guild get no counts.
  const uses = (invite as Partial<APIExtendedInvite>).uses;
  return (
    <>
      {invite.inviter && (
        <Avatar
          url={avatarUrl(invite.inviter, 32)}
          name={invite.inviter.username}
          size={32}
          hueKey={invite.inviter.id}
        />
      )}
      <span className="settings-row-text">
        <strong>
          <code>{invite.code}</code>
        </strong>
        <span>
          {[
            invite.channel && `#${invite.channel.name ?? ""}`,
            creator !== undefined && text("guildSettings.createdBy", { name: creator }),
            uses !== undefined &&
              text(invite.max_uses === 0 ? "guildSettings.invites.uses" : "guildSettings.invites.usesOf", {
                count: uses,
                max: invite.max_uses,
              }),
            expires === null
              ? text("guildSettings.invites.never")
              : text("guildSettings.invites.expires", { date: moment(expires) }),
            invite.temporary && text("guildSettings.invites.temporary"),
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </span>
      <CopyButton label={text("common.copy")} value={`${location.origin}/invite/${invite.code}`} />
    </>
  );
}

function NewInvite({ guild, onCreated }: { guild: GuildState; onCreated: () => Promise<unknown> }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const channels = useChannelOptions(guild.id, OPEN_TYPES);
  const [channelId, setChannelId] = useState(guild.systemChannelId ?? channels[0]?.id ?? "");
  const [age, setAge] = useState<(typeof AGES)[number]>("604800");
  const [uses, setUses] = useState<(typeof USES)[number]>("0");
  const [temporary, setTemporary] = useState(false);
  const create = async () => {
    await createInvite(api, channelId, {
      max_age: Number(age),
      max_uses: Number(uses),
      temporary,
      unique: true,
    });
    await onCreated();
  };
  return (
    <section className="settings-card" aria-labelledby="new-invite">
      <h2 id="new-invite">{text("guildSettings.invites.new")}</h2>
      <div className="settings-columns">
        <Select
          label={text("guildSettings.invites.channel")}
          value={channelId}
          options={choices(channels)}
          onChange={setChannelId}
        />
        <Select
          label={text("guildSettings.invites.age")}
          value={age}
          options={AGES.map((each) => [each, text(`guildSettings.invites.age.${each}`)])}
          onChange={setAge}
          error={fieldError(action.error, "max_age")}
        />
        <Select
          label={text("guildSettings.invites.maxUses")}
          value={uses}
          options={USES.map((each) => [each, each === "0" ? text("guildSettings.invites.unlimited") : each])}
          onChange={setUses}
          error={fieldError(action.error, "max_uses")}
        />
      </div>
      <Switch
        label={text("guildSettings.invites.temporary")}
        hint={text("guildSettings.invites.temporary.hint")}
        isSelected={temporary}
        onChange={setTemporary}
      />
      <ErrorNotice error={action.error} shown={["max_age", "max_uses"]} />
      <div className="dialog-actions">
        <Button
          kind="primary"
          isDisabled={action.pending || channelId === ""}
          onPress={() => void action.run(create)}
        >
          {text("guildSettings.invites.create")}
        </Button>
      </div>
    </section>
  );
}
