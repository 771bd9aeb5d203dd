import { Link, useNavigate } from "@tanstack/react-router";
import type { APIWebhook } from "discord-api-types/v10";
import { ChevronRight, Plus } from "lucide-react";
import { useState } from "react";

import { avatarUrl } from "../../../api/images";
import { createWebhook, listChannelWebhooks, listGuildWebhooks } from "../../../api/webhooks";
import { useText } from "../../../i18n/translate";
import { Avatar, Button } from "../../../ui/controls";
import { Select } from "../../../ui/Select";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useSession } from "../../session/session";
import { useAction } from "../../session/useAction";
import { settingsLink } from "../links";
import { OPEN_TYPES, optional, useChannelOptions } from "../options";
import { Loaded, useGuildQuery } from "../queries";
import type { SectionProps } from "../section";
import { WebhookEditor } from "./WebhookEditor";

/** The webhooks of a guild or of one of its channels. */
export default function Webhooks({ guild, itemId }: SectionProps) {
  const text = useText();
  const { api } = useSession();
  const navigate = useNavigate();
  const action = useAction();
  const [channelId, setChannelId] = useState("");
  const channels = useChannelOptions(guild.id, OPEN_TYPES);
  const query = useGuildQuery(guild.id, channelId === "" ? "webhooks" : `webhooks of ${channelId}`, () =>
    channelId === "" ? listGuildWebhooks(api, guild.id) : listChannelWebhooks(api, channelId),
  );
  const create = async () => {
    const target = channelId === "" ? (guild.systemChannelId ?? channels[0]?.id ?? "") : channelId;
    const webhook = await createWebhook(api, target, text("guildSettings.webhooks.new"));
    await query.refetch();
    await navigate(settingsLink(guild.id, "webhooks", webhook.id));
  };
  const open = query.data?.find(({ id }) => id === itemId);
  if (open !== undefined) {
    return <WebhookEditor key={open.id} guild={guild} webhook={open} onChange={() => query.refetch()} />;
  }
  return (
    <div className="settings-block">
      <p>{text("guildSettings.webhooks.hint")}</p>
      <div className="settings-bar settings-bar-end">
        <Select
          label={text("guildSettings.webhooks.in")}
          value={channelId}
          options={optional(channels, text("guildSettings.webhooks.everywhere"))}
          onChange={setChannelId}
        />
        <Button
          kind="primary"
          isDisabled={action.pending || channels.length === 0}
          onPress={() => void action.run(create)}
        >
          <Plus size={16} aria-hidden="true" /> {text("guildSettings.webhooks.create")}
        </Button>
      </div>
      <ErrorNotice error={action.error} />
      <Loaded query={query}>
        {(webhooks) =>
          webhooks.length === 0 ? (
            <p className="settings-empty">{text("guildSettings.webhooks.empty")}</p>
          ) : (
            <ul className="settings-list" aria-label={text("guildSettings.webhooks")}>
              {webhooks.map((webhook) => (
                <li key={webhook.id} className="settings-row">
                  <Link {...settingsLink(guild.id, "webhooks", webhook.id)} className="settings-link">
                    <WebhookSummary
                      webhook={webhook}
                      channel={channels.find(({ id }) => id === webhook.channel_id)?.name ?? ""}
                    />
                  </Link>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </div>
  );
}

function WebhookSummary({ webhook, channel }: { webhook: APIWebhook; channel: string }) {
  const text = useText();
  const creator = webhook.user?.global_name ?? webhook.user?.username;
  return (
    <>
      <Avatar url={avatarUrl(webhook, 36)} name={webhook.name ?? "?"} size={36} hueKey={webhook.id} />
      <span className="settings-row-text">
        <strong>{webhook.name}</strong>
        <span>
          {[
            channel,
            creator !== undefined && text("guildSettings.createdBy", { name: creator }),
            webhook.source_guild !== undefined &&
              text("guildSettings.webhooks.follows", { name: webhook.source_guild.name }),
          ]
            .filter(Boolean)
            .join(" · ")}
        </span>
      </span>
      <ChevronRight size={18} aria-hidden="true" />
    </>
  );
}
