import { useMemo } from "react";

import { ChannelType } from "../../api/enums";
import { useText } from "../../i18n/translate";
import { guildIdOf } from "../../store/channels";
import { compareIds } from "../../store/records";
import { channelName } from "../../store/selectors";
import { TextField } from "../../ui/TextField";
import { Switch } from "../../ui/fields";
import { Select } from "../../ui/Select";
import { useAppState, useSession } from "../session/session";
import { fieldError } from "../session/useAction";
import { AUTO_ARCHIVE_MINUTES, SLOW_MODE_SECONDS, useDuration } from "../channels/durations";
import { ForumFields } from "./ForumFields";
import { hasField, valueOf, type ChannelFieldsProps, type Field } from "./fields";
import { VoiceFields } from "./VoiceFields";

/** The settings of a channel, those that its type has. */
export function ChannelFields({ channel, draft, error, onChange }: ChannelFieldsProps) {
  const text = useText();
  const has = (field: Field) => hasField(channel.type, field);
  const value = <Name extends Field>(field: Name) => valueOf(channel, draft, field);
  const isForum = has("available_tags");
  const props = { channel, draft, error, onChange };
  return (
    <>
      <TextField
        label={text("channel.create.name")}
        value={value("name") ?? ""}
        onChange={(name) => onChange({ name })}
        maxLength={100}
        isRequired
        error={fieldError(error, "name")}
      />
      {has("topic") && (
        <TextField
          label={text(isForum ? "forum.guidelines" : "channel.topic")}
          value={value("topic") ?? ""}
          onChange={(topic) => onChange({ topic: topic === "" ? null : topic })}
          maxLength={isForum ? 4096 : 1024}
          multiline
          error={fieldError(error, "topic")}
        />
      )}
      {has("type") && (
        <Switch
          label={text("channel.announcement")}
          hint={text("channel.announcement.hint")}
          isSelected={value("type") === ChannelType.GuildAnnouncement}
          onChange={(on) => onChange({ type: on ? ChannelType.GuildAnnouncement : ChannelType.GuildText })}
        />
      )}
      {has("parent_id") && <CategoryField {...props} />}
      {has("nsfw") && (
        <Switch
          label={text("channel.nsfw")}
          hint={text("channel.nsfw.hint")}
          isSelected={value("nsfw") === true}
          onChange={(nsfw) => onChange({ nsfw })}
        />
      )}
      {has("bitrate") && <VoiceFields {...props} />}
      {has("rate_limit_per_user") && (
        <SlowMode
          label={text(isForum ? "forum.slowMode" : "thread.slowMode")}
          value={value("rate_limit_per_user") ?? 0}
          onChange={(seconds) => onChange({ rate_limit_per_user: seconds })}
        />
      )}
      {has("default_thread_rate_limit_per_user") && (
        <SlowMode
          label={text("channel.threadSlowMode")}
          value={value("default_thread_rate_limit_per_user") ?? 0}
          onChange={(seconds) => onChange({ default_thread_rate_limit_per_user: seconds })}
        />
      )}
      {has("default_auto_archive_duration") && <AutoArchive {...props} />}
      {isForum && <ForumFields {...props} tags={value("available_tags") ?? []} />}
    </>
  );
}

function CategoryField({ channel, draft, error, onChange }: ChannelFieldsProps) {
  const text = useText();
  const { store } = useSession();
  const channels = useAppState((state) => state.channels);
  const options = useMemo(
    () => [
      ["", text("channel.category.none")] as const,
      ...Object.values(channels)
        .filter((each) => each.type === ChannelType.GuildCategory && guildIdOf(each) === guildIdOf(channel))
        .sort((a, b) => compareIds(a.id, b.id))
        .map((each) => [each.id, channelName(store.state, each)] as const),
    ],
    [channels, channel, store, text],
  );
  return (
    <Select
      label={text("channel.type.category")}
      value={valueOf(channel, draft, "parent_id") ?? ""}
      options={options}
      error={fieldError(error, "parent_id")}
      onChange={(id) => onChange({ parent_id: id === "" ? null : id })}
    />
  );
}

function SlowMode({
  label,
  value,
  onChange,
}: {
  label: string;
  value: number;
  onChange: (seconds: number) => void;
}) {
  const text = useText();
  const duration = useDuration();
  const options = SLOW_MODE_SECONDS.includes(value as 0) ? SLOW_MODE_SECONDS : [...SLOW_MODE_SECONDS, value];
  return (
    <Select
      label={label}
      value={String(value)}
      options={options.map((each) => [
        String(each),
        each === 0 ? text("thread.slowMode.off") : duration(each),
      ])}
      onChange={(seconds) => onChange(Number(seconds))}
    />
  );
}

function AutoArchive({ channel, draft, onChange }: ChannelFieldsProps) {
  const text = useText();
  const duration = useDuration();
  return (
    <Select
      label={text("channel.autoArchive")}
      value={String(valueOf(channel, draft, "default_auto_archive_duration") ?? 4320)}
      options={AUTO_ARCHIVE_MINUTES.map((each) => [String(each), duration(each * 60)])}
      onChange={(minutes) => onChange({ default_auto_archive_duration: Number(minutes) })}
    />
  );
}
