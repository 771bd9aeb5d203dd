import type { APIGuildIntegration } from "discord-api-types/v10";
import { Trash2 } from "lucide-react";
import { useState } from "react";

import { deleteIntegration, listIntegrations } from "../../api/guild_settings";
import { avatarUrl } from "../../api/images";
import { useText } from "../../i18n/translate";
import { Avatar, IconButton } from "../../ui/controls";
import { useSession } from "../session/session";
import { Confirm } from "../session/Confirm";
import { useFormats } from "./formats";
import { Loaded, useGuildQuery } from "./queries";
import type { SectionProps } from "./sections";

/** The apps and bots of a guild, which can be removed. */
export default function Integrations({ guild }: SectionProps) {
  const text = useText();
  const { api } = useSession();
  const { day } = useFormats();
  const query = useGuildQuery(guild.id, "integrations", listIntegrations);
  const [removing, setRemoving] = useState<APIGuildIntegration | null>(null);
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
