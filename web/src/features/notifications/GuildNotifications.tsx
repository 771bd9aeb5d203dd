import "./notifications.css";
import type { APIChannel } from "discord-api-types/v10";
import { useState } from "react";
import { FormattedDate } from "react-intl";

import { ChannelType } from "../../api/enums";
import type { MessageId } from "../../i18n/messages";
import { Translate, useText } from "../../i18n/translate";
import { visibleChannelGroups } from "../../store/selectors";
import { isInForce, NotificationLevel } from "../../store/settings";
import type { ChannelOverride, GuildSettings, MuteConfig } from "../../store/userSettings";
import { Switch } from "../../ui/fields";
import { Select } from "../../ui/Select";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useDerived, useSession } from "../session/session";
import { useAction, useErrorText } from "../session/useAction";
import {
  changeChannelSettings,
  changeGuildSettings,
  MUTE_SECONDS,
  muteFor,
  UNMUTED,
  type Mute,
} from "./mute";
import { durationText } from "./MuteItems";

const LEVELS: readonly [number, MessageId][] = [
  [NotificationLevel.All, "notifications.level.all"],
  [NotificationLevel.Mentions, "notifications.level.mentions"],
  [NotificationLevel.None, "notifications.level.none"],
];

/** The notification settings of a guild and its channels. */
export function GuildNotifications({ guildId }: { guildId: string }) {
  const text = useText();
  const session = useSession();
  const action = useAction();
  const settings: GuildSettings | undefined = useAppState((state) => state.guildSettings[guildId]);
  const inherited = useAppState((state) => state.guilds[guildId]?.defaultNotifications ?? 0);
  const change = (changes: object) => void action.run(() => changeGuildSettings(session, guildId, changes));
  return (
    <div className="settings-form">
      <ErrorNotice error={action.error} />
      <MuteSelect
        label={text("notifications.mute.guild")}
        mute={settings ?? UNMUTED}
        onChange={(mute) => change(mute)}
      />
      <LevelSelect
        label={text("notifications.level")}
        level={settings?.message_notifications ?? NotificationLevel.Inherit}
        inherited={text("notifications.level.default", { level: levelText(text, inherited) })}
        onChange={(level) => change({ message_notifications: level })}
      />
      <Switch
        label={text("notifications.suppressEveryone")}
        isSelected={settings?.suppress_everyone ?? false}
        onChange={(suppressed) => change({ suppress_everyone: suppressed })}
      />
      <Switch
        label={text("notifications.suppressRoles")}
        isSelected={settings?.suppress_roles ?? false}
        onChange={(suppressed) => change({ suppress_roles: suppressed })}
      />
      <Switch
        label={text("notifications.muteEvents")}
        isSelected={settings?.mute_scheduled_events ?? false}
        onChange={(muted) => change({ mute_scheduled_events: muted })}
      />
      <ChannelOverrides guildId={guildId} settings={settings} />
    </div>
  );
}

function ChannelOverrides({ guildId, settings }: { guildId: string; settings: GuildSettings | undefined }) {
  const text = useText();
  const groups = useDerived((state) => visibleChannelGroups(state, guildId));
  const listed = groups.flatMap((group) => [
    ...(group.category === null ? [] : [group.category]),
    ...group.channels,
  ]);
  const changed = settings?.channel_overrides.filter((each) => isChanged(each)) ?? [];
  const others = listed.filter((channel) => !changed.some((each) => each.channel_id === channel.id));
  const [chosenId, setChosenId] = useState("");
  const shown = listed.filter(
    (channel) => channel.id === chosenId || changed.some((each) => each.channel_id === channel.id),
  );
  return (
    <section className="preferences-block" aria-label={text("notifications.channels")}>
      <h3>{text("notifications.channels")}</h3>
      <Select
        label={text("notifications.channels.add")}
        value={chosenId}
        options={[
          ["", text("notifications.channels.choose")],
          ...others.map((channel): [string, string] => [channel.id, labelOf(channel)]),
          ...listed
            .filter((channel) => channel.id === chosenId && !others.includes(channel))
            .map((channel): [string, string] => [channel.id, labelOf(channel)]),
        ]}
        onChange={setChosenId}
      />
      {shown.map((channel) => (
        <ChannelNotifications key={channel.id} guildId={guildId} channel={channel} />
      ))}
    </section>
  );
}

/** The notification settings of one channel; `guildId` is "@me" for direct messages. */
export function ChannelNotifications({ guildId, channel }: { guildId: string; channel: APIChannel }) {
  const text = useText();
  const session = useSession();
  const action = useAction();
  const errorText = useErrorText();
  const override = useAppState((state) =>
    state.guildSettings[guildId]?.channel_overrides.find((each) => each.channel_id === channel.id),
  );
  const change = (changes: object) =>
    void action.run(() => changeChannelSettings(session, guildId, channel.id, changes));
  return (
    <fieldset className="notification-channel">
      <legend>{labelOf(channel)}</legend>
      <MuteSelect
        label={text("notifications.mute.channel")}
        mute={override ?? UNMUTED}
        onChange={(mute) => change(mute)}
      />
      <LevelSelect
        label={text("notifications.level")}
        level={override?.message_notifications ?? NotificationLevel.Inherit}
        inherited={text("notifications.level.inherit")}
        onChange={(level) => change({ message_notifications: level })}
      />
      {action.error !== null && (
        <p role="alert" className="field-error">
          {errorText(action.error)}
        </p>
      )}
    </fieldset>
  );
}

interface LevelSelectProps {
  label: string;
  level: number;
  /** The text of "as above". */
  inherited: string;
  onChange: (level: number) => void;
}

function LevelSelect({ label, level, inherited, onChange }: LevelSelectProps) {
  const text = useText();
  return (
    <Select
      label={label}
      value={String(level)}
      options={[
        [String(NotificationLevel.Inherit), inherited],
        ...LEVELS.map(([value, id]): [string, string] => [String(value), text(id)]),
      ]}
      onChange={(value) => onChange(Number(value))}
    />
  );
}

interface MuteSelectProps {
  label: string;
  mute: { muted: boolean; mute_config: MuteConfig | null };
  onChange: (mute: Mute) => void;
}

/** Whether something is muted, and for how long from now on. */
function MuteSelect({ label, mute, onChange }: MuteSelectProps) {
  const text = useText();
  const [now] = useState(() => Date.now());
  const inForce = isInForce(mute, now);
  const end = mute.mute_config?.end_time ?? null;
  return (
    <>
      <Select
        label={label}
        value={inForce ? "muted" : "off"}
        options={[
          ["off", text("notifications.mute.off")],
          ...(inForce ? [["muted", text("notifications.mute.on")] as [string, string]] : []),
          ...MUTE_SECONDS.map((seconds): [string, string] => [String(seconds), durationText(text, seconds)]),
        ]}
        onChange={(value) => {
          if (value !== "muted") {
            onChange(
              value === "off" ? UNMUTED : muteFor(value === "null" ? null : Number(value), Date.now()),
            );
          }
        }}
      />
      {inForce && end !== null && (
        <span className="field-hint">
          <Translate
            id="mute.until"
            values={{ date: <FormattedDate key="date" value={end} dateStyle="medium" timeStyle="short" /> }}
          />
        </span>
      )}
    </>
  );
}

function isChanged(override: ChannelOverride): boolean {
  return override.muted || override.message_notifications !== NotificationLevel.Inherit;
}

function labelOf(channel: APIChannel): string {
  const name = "name" in channel ? (channel.name ?? "") : "";
  return channel.type === ChannelType.GuildText || channel.type === ChannelType.GuildAnnouncement
    ? `#${name}`
    : name;
}

function levelText(text: (id: MessageId) => string, level: number): string {
  const id = LEVELS.find(([value]) => value === level)?.[1];
  return id === undefined ? "" : text(id);
}
