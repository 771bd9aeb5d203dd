import { useText } from "../../../i18n/translate";
import { orderedGuilds } from "../../../store/selectors";
import { Switch } from "../../../ui/fields";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useAppState } from "../../session/session";
import { useSettings } from "../../session/useSettings";

/** Who may write to the user and send them friend requests, and what others see of them. */
export default function Privacy() {
  const text = useText();
  const { settings, change, action } = useSettings();
  const guilds = useAppState(orderedGuilds);
  const sources = settings.friend_source_flags ?? {};
  const everyone = sources.all === true;
  const changeSources = (changes: typeof sources) =>
    void change({ friend_source_flags: { ...sources, ...changes } });
  const restrict = (guildId: string, restricted: boolean) => {
    const others = settings.restricted_guilds.filter((id) => id !== guildId);
    void change({ restricted_guilds: restricted ? [...others, guildId] : others });
  };
  return (
    <>
      <ErrorNotice error={action.error} />
      <section className="preferences-block">
        <h2>{text("settings.privacy.direct")}</h2>
        <p className="field-hint">{text("settings.privacy.direct.hint")}</p>
        <Switch
          label={text("settings.privacy.direct.new")}
          hint={text("settings.privacy.direct.newHint")}
          isSelected={!settings.default_guilds_restricted}
          onChange={(allowed) => void change({ default_guilds_restricted: !allowed })}
        />
        {guilds.map((guild) => (
          <Switch
            key={guild.id}
            label={text("settings.privacy.direct.guild", { name: guild.name })}
            isSelected={!settings.restricted_guilds.includes(guild.id)}
            onChange={(allowed) => restrict(guild.id, !allowed)}
          />
        ))}
      </section>
      <section className="preferences-block">
        <h2>{text("settings.privacy.requests")}</h2>
        <Switch
          label={text("settings.privacy.requests.all")}
          isSelected={everyone}
          onChange={(all) => changeSources({ all, mutual_friends: all, mutual_guilds: all })}
        />
        <Switch
          label={text("settings.privacy.requests.friends")}
          isSelected={everyone || sources.mutual_friends === true}
          isDisabled={everyone}
          onChange={(mutual_friends) => changeSources({ mutual_friends })}
        />
        <Switch
          label={text("settings.privacy.requests.guilds")}
          isSelected={everyone || sources.mutual_guilds === true}
          isDisabled={everyone}
          onChange={(mutual_guilds) => changeSources({ mutual_guilds })}
        />
      </section>
    </>
  );
}
