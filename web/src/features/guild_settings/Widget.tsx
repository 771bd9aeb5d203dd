import type { APIGuildWidgetSettings } from "discord-api-types/v10";
import { useState } from "react";

import {
  getWidget,
  getWidgetSettings,
  modifyWidget,
  WIDGET_STYLES,
  widgetImageUrl,
  type WidgetStyle,
} from "../../api/guild_settings";
import { useText } from "../../i18n/translate";
import type { GuildState } from "../../store/state";
import { Switch } from "../../ui/fields";
import { Select } from "../../ui/Select";
import { useSession } from "../session/session";
import { CopyButton } from "./CopyButton";
import { FormFrame } from "./Form";
import { OPEN_TYPES, optional, useChannelOptions } from "./options";
import { Loaded, useGuildQuery } from "./queries";
import type { SectionProps } from "./section";
import { useForm } from "../session/useForm";

/** The widget that other sites show of the guild, with a preview. */
export default function Widget({ guild }: SectionProps) {
  const query = useGuildQuery(guild.id, "widget settings", getWidgetSettings);
  return (
    <Loaded query={query}>
      {(settings) => (
        <>
          <WidgetForm guild={guild} settings={settings} onChange={() => query.refetch()} />
          {settings.enabled && <Preview key={settings.channel_id} guildId={guild.id} />}
        </>
      )}
    </Loaded>
  );
}

interface WidgetFormProps {
  guild: GuildState;
  settings: APIGuildWidgetSettings;
  onChange: () => Promise<unknown>;
}

function WidgetForm({ guild, settings, onChange }: WidgetFormProps) {
  const text = useText();
  const { api } = useSession();
  const channels = useChannelOptions(guild.id, OPEN_TYPES);
  const initial = { enabled: settings.enabled, channel_id: settings.channel_id };
  const form = useForm(initial, async (_changes, value) => {
    await modifyWidget(api, guild.id, value);
    await onChange();
  });
  return (
    <FormFrame form={form} shown={["channel_id", "enabled"]}>
      <Switch
        label={text("guildSettings.widget.enabled")}
        hint={text("guildSettings.widget.hint")}
        isSelected={form.value.enabled}
        onChange={(enabled) => form.set("enabled", enabled)}
      />
      <Select
        label={text("guildSettings.widget.channel")}
        value={form.value.channel_id ?? ""}
        options={optional(channels, text("guildSettings.widget.noInvite"))}
        onChange={(id) => form.set("channel_id", id === "" ? null : id)}
        error={form.errorOf("channel_id")}
      />
    </FormFrame>
  );
}

function Preview({ guildId }: { guildId: string }) {
  const text = useText();
  const [style, setStyle] = useState<WidgetStyle>("banner1");
  const query = useGuildQuery(guildId, "widget", getWidget);
  const image = widgetImageUrl(guildId, style);
  return (
    <section className="settings-block" aria-labelledby="widget-preview">
      <h2 id="widget-preview">{text("guildSettings.widget.preview")}</h2>
      <Select
        label={text("guildSettings.widget.style")}
        value={style}
        options={WIDGET_STYLES.map((each) => [each, each])}
        onChange={setStyle}
      />
      <img src={image} alt={text("guildSettings.widget.image")} className="widget-image" />
      <div className="settings-bar">
        <CopyButton label={text("guildSettings.widget.copyImage")} value={location.origin + image} />
        <CopyButton
          label={text("guildSettings.widget.copyJson")}
          value={`${location.origin}/api/v10/guilds/${guildId}/widget.json`}
        />
      </div>
      <Loaded query={query}>
        {(widget) => (
          <div className="settings-card">
            <strong>{widget.name}</strong>
            <span>{text("guildSettings.widget.online", { count: widget.presence_count })}</span>
            {widget.members.length > 0 && (
              <span>{widget.members.map(({ username }) => username).join(", ")}</span>
            )}
            {widget.instant_invite !== null && <code>{widget.instant_invite}</code>}
          </div>
        )}
      </Loaded>
    </section>
  );
}
