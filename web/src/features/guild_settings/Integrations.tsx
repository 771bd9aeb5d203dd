import type { APIGuildIntegration } from "discord-api-types/v10";
import { SquareSlash, Trash2 } from "lucide-react";
import { useState } from "react";

import { Permission } from "../../api/enums";
import { deleteIntegration, listIntegrations } from "../../api/guild_settings";
import { avatarUrl } from "../../api/images";
import { useText } from "../../i18n/translate";
import { has } from "../../store/permissions";
import { Avatar, IconButton } from "../../ui/controls";
import { loaded } from "../../ui/loaded";
import { useSession } from "../session/session";
import { Confirm } from "../session/Confirm";
import { useFormats } from "./formats";
import { Loaded, useGuildQuery } from "./queries";
import type { SectionProps } from "./section";

const CommandPermissions = loaded(() => import("./CommandPermissions"));

/** The apps and bots of a guild: who may use their commands; they can be removed. */
export default function Integrations({ guild, permissions }: SectionProps) {
  const text = useText();
  const { api } = useSession();
  const { day } = useFormats();
  const query = useGuildQuery(guild.id, "integrations", listIntegrations);
  const [removing, setRemoving] = useState<APIGuildIntegration | null>(null);
  const [editing, setEditing] = useState<{ id: string; name: string } | null>(null);
  const mayEdit = has(permissions, Permission.ManageGuild | Permission.ManageRoles);
  return (
    <div className="settings-block">
      <Loaded query={query}>
        {(integrations) => (
          <>
            {integrations.length === 0 && (
              <p className="settings-empty">{text("guildSettings.integrations.empty")}</p>
            )}
            <ul className="settings-list" aria-label={text("guildSettings.integrations")}>
              {integrations.map((integration) => {
                const bot = integration.application?.bot;
                const adder = integration.user?.global_name ?? integration.user?.username;
                return (
                  <li key={integration.id} className="settings-row">
                    <Avatar
                      url={bot === undefined ? null : avatarUrl(bot, 40)}
                      name={integration.name}
                      size={40}
                      tile
                    />
                    <span className="settings-row-text">
                      <strong>{integration.name}</strong>
                      <span>
                        {[
                          adder !== undefined && text("guildSettings.integrations.addedBy", { name: adder }),
                          integration.synced_at !== undefined && day(integration.synced_at),
                          integration.scopes?.join(", "),
                        ]
                          .filter(Boolean)
                          .join(" · ")}
                      </span>
                      {integration.application?.description && <p>{integration.application.description}</p>}
                    </span>
                    <span className="settings-row-actions">
                      {mayEdit && integration.application !== undefined && (
                        <IconButton
                          label={text("guildSettings.commands.open", { name: integration.name })}
                          onPress={() =>
                            setEditing({ id: integration.application?.id ?? "", name: integration.name })
                          }
                        >
                          <SquareSlash size={18} />
                        </IconButton>
                      )}
                      <IconButton
                        label={text("guildSettings.integrations.remove", { name: integration.name })}
                        onPress={() => setRemoving(integration)}
                      >
                        <Trash2 size={18} />
                      </IconButton>
                    </span>
                  </li>
                );
              })}
            </ul>
          </>
        )}
      </Loaded>
      {editing !== null && (
        <CommandPermissions
          guild={guild}
          applicationId={editing.id}
          name={editing.name}
          onClose={() => setEditing(null)}
        />
      )}
      {removing !== null && (
        <Confirm
          title={text("guildSettings.integrations.remove", { name: removing.name })}
          question={text("guildSettings.integrations.remove.question")}
          confirm={text("guildSettings.integrations.remove.confirm")}
          onConfirm={async () => {
            await deleteIntegration(api, guild.id, removing.id);
            await query.refetch();
          }}
          onClose={() => setRemoving(null)}
        />
      )}
    </div>
  );
}
