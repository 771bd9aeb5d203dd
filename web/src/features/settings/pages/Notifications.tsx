import { useState } from "react";

import { useText } from "../../../i18n/translate";
import { orderedGuilds } from "../../../store/selectors";
import { Button } from "../../../ui/controls";
import { Switch } from "../../../ui/fields";
import { Select } from "../../../ui/Select";
import { GuildNotifications } from "../../notifications/GuildNotifications";
import { permission, requestPermission } from "../../notifications/permission";
import { PushSwitch } from "../../notifications/PushSwitch";
import { useAppState } from "../../session/session";
import { setPreferences, usePreferences } from "../../preferences/preferences";

/** What announces new messages, on this device and for each guild. */
export default function Notifications() {
  const text = useText();
  const guilds = useAppState(orderedGuilds);
  const [guildId, setGuildId] = useState<string | null>(null);
  const guild = guilds.find((each) => each.id === guildId) ?? guilds[0];
  return (
    <>
      <ThisDevice />
      {guild !== undefined && (
        <section className="preferences-block">
          <h2>{text("settings.notifications.guilds")}</h2>
          <Select
            label={text("settings.notifications.guild")}
            value={guild.id}
            options={guilds.map((each): [string, string] => [each.id, each.name])}
            onChange={setGuildId}
          />
          <GuildNotifications key={guild.id} guildId={guild.id} />
        </section>
      )}
    </>
  );
}

function ThisDevice() {
  const text = useText();
  const { notifications, titleCount } = usePreferences();
  const [granted, setGranted] = useState(permission);
  const allow = async () => {
    setGranted(await requestPermission());
    setPreferences({ notifications: true });
  };
  return (
    <section className="preferences-block">
      <h2>{text("settings.notifications.device")}</h2>
      {granted === "unsupported" && <p className="notice">{text("settings.notifications.unsupported")}</p>}
      {granted === "denied" && <p className="notice">{text("settings.notifications.denied")}</p>}
      {granted === "default" && (
        <div className="preferences-row">
          <span className="preferences-text">{text("settings.notifications.ask")}</span>
          <Button kind="primary" onPress={() => void allow()}>
            {text("settings.notifications.allow")}
          </Button>
        </div>
      )}
      {granted === "granted" && (
        <Switch
          label={text("settings.notifications.show")}
          hint={text("settings.notifications.showHint")}
          isSelected={notifications}
          onChange={(shown) => setPreferences({ notifications: shown })}
        />
      )}
      <PushSwitch />
      <Switch
        label={text("settings.notifications.title")}
        isSelected={titleCount}
        onChange={(counts) => setPreferences({ titleCount: counts })}
      />
    </section>
  );
}
