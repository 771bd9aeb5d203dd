import { Link, useNavigate } from "@tanstack/react-router";
import type { APIWebhook } from "discord-api-types/v10";
import { ArrowLeft, Send, Trash2 } from "lucide-react";
import { useState } from "react";

import { avatarUrl } from "../../../api/images";
import { deleteWebhook, executeWebhook, modifyWebhook } from "../../../api/webhooks";
import { useText } from "../../../i18n/translate";
import type { GuildState } from "../../../store/state";
import { Button } from "../../../ui/controls";
import { TextField } from "../../../ui/TextField";
import { ImageField } from "../../../ui/fields";
import { Select } from "../../../ui/Select";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useSession } from "../../session/session";
import { useAction } from "../../session/useAction";
import { Confirm } from "../../session/Confirm";
import { CopyButton } from "../CopyButton";
import { FormFrame } from "../Form";
import { settingsLink } from "../links";
import { choices, OPEN_TYPES, useChannelOptions } from "../options";
import { useForm } from "../../session/useForm";

interface WebhookEditorProps {
  guild: GuildState;
  webhook: APIWebhook;
  /** Reads the webhooks anew. */
  onChange: () => Promise<unknown>;
}

/** Edits a webhook, copies its URL, sends a test message, moves and deletes it. */
export function WebhookEditor({ guild, webhook, onChange }: WebhookEditorProps) {
  const text = useText();
  const { api } = useSession();
  const channels = useChannelOptions(guild.id, OPEN_TYPES);
  const initial = { name: webhook.name ?? "", avatar: webhook.avatar, channel_id: webhook.channel_id };
  const form = useForm(initial, async (changes) => {
    await modifyWebhook(api, webhook.id, changes);
    await onChange();
  });
  const { value, set, errorOf } = form;
  return (
    <>
      <WebhookHeader guild={guild} webhook={webhook} onChange={onChange} />
      <FormFrame form={form} shown={["name", "avatar", "channel_id"]}>
        <ImageField
          label={text("guildSettings.webhooks.avatar")}
          shape="round"
          url={
            value.avatar?.startsWith("data:")
              ? value.avatar
              : avatarUrl({ ...webhook, avatar: value.avatar }, 64)
          }
          onChange={(avatar) => set("avatar", avatar)}
          error={errorOf("avatar")}
        />
        <div className="settings-columns">
          <TextField
            label={text("guildSettings.webhooks.name")}
            value={value.name}
            onChange={(name) => set("name", name)}
            isRequired
            maxLength={80}
            error={errorOf("name")}
          />
          <Select
            label={text("guildSettings.webhooks.channel")}
            value={value.channel_id ?? ""}
            options={choices(channels)}
            onChange={(channelId) => set("channel_id", channelId)}
            error={errorOf("channel_id")}
          />
        </div>
      </FormFrame>
    </>
  );
}

function WebhookHeader({ guild, webhook, onChange }: WebhookEditorProps) {
  const text = useText();
  const { api } = useSession();
  const navigate = useNavigate();
  const test = useAction();
  const [deleting, setDeleting] = useState(false);
  const [sent, setSent] = useState(false);
  const { token } = webhook;
  const sendTest = async (secret: string) => {
    setSent(false);
    await executeWebhook(api, { id: webhook.id, token: secret }, text("guildSettings.webhooks.testMessage"));
    setSent(true);
  };
  return (
    <div className="settings-item-header">
      <Link {...settingsLink(guild.id, "webhooks")} className="settings-back">
        <ArrowLeft size={16} aria-hidden="true" /> {text("guildSettings.webhooks")}
      </Link>
      <div className="settings-card-header">
        <h2>{webhook.name}</h2>
        <span className="settings-row-actions">
          {token !== undefined && (
            <>
              <CopyButton
                label={text("guildSettings.webhooks.copyUrl")}
                value={`${location.origin}/api/webhooks/${webhook.id}/${token}`}
              />
              <Button isDisabled={test.pending} onPress={() => void test.run(() => sendTest(token))}>
                <Send size={16} aria-hidden="true" /> {text("guildSettings.webhooks.test")}
              </Button>
            </>
          )}
          <Button kind="danger" onPress={() => setDeleting(true)}>
            <Trash2 size={16} aria-hidden="true" /> {text("common.delete")}
          </Button>
        </span>
      </div>
      <ErrorNotice error={test.error} />
      <p role="status" className="settings-count">
        {sent && text("guildSettings.webhooks.sent")}
      </p>
      {deleting && (
        <Confirm
          title={text("guildSettings.webhooks.delete")}
          question={text("guildSettings.webhooks.delete.question", { name: webhook.name ?? "" })}
          confirm={text("common.delete")}
          onConfirm={async () => {
            await deleteWebhook(api, webhook.id);
            await navigate({ ...settingsLink(guild.id, "webhooks"), ignoreBlocker: true });
            await onChange();
          }}
          onClose={() => setDeleting(false)}
        />
      )}
    </div>
  );
}
