import type { APIChannel } from "discord-api-types/v10";

import type { ChannelChanges } from "../../api/channels";
import { ChannelType } from "../../api/enums";

export type Field = keyof ChannelChanges;

const TEXT: readonly Field[] = [
  "name",
  "topic",
  "nsfw",
  "parent_id",
  "type",
  "default_auto_archive_duration",
];
const VOICE: readonly Field[] = [
  "name",
  "nsfw",
  "parent_id",
  "rate_limit_per_user",
  "bitrate",
  "user_limit",
  "rtc_region",
  "video_quality_mode",
];
const FORUM: readonly Field[] = [
  "name",
  "topic",
  "nsfw",
  "parent_id",
  "rate_limit_per_user",
  "default_thread_rate_limit_per_user",
  "default_auto_archive_duration",
  "default_reaction_emoji",
  "default_sort_order",
  "available_tags",
  "flags",
];

/** The settings that channels of each type have. */
const FIELDS: Partial<Record<ChannelType, readonly Field[]>> = {
  [ChannelType.GuildCategory]: ["name"],
  [ChannelType.GuildText]: [...TEXT, "rate_limit_per_user", "default_thread_rate_limit_per_user"],
  [ChannelType.GuildAnnouncement]: TEXT,
  [ChannelType.GuildVoice]: VOICE,
  [ChannelType.GuildStageVoice]: VOICE,
  [ChannelType.GuildForum]: [...FORUM, "default_forum_layout"],
  [ChannelType.GuildMedia]: FORUM,
};

export function hasField(type: ChannelType, field: Field): boolean {
  return FIELDS[type]?.includes(field) === true;
}

/** The settings of a draft that differ from the channel's. */
export function changedFields(channel: APIChannel, draft: ChannelChanges): ChannelChanges {
  const before = channel as unknown as Readonly<Record<string, unknown>>;
  return Object.fromEntries(
    Object.entries(draft).filter(([field, value]) => {
      return JSON.stringify(before[field] ?? null) !== JSON.stringify(value ?? null);
    }),
  );
}

export interface ChannelFieldsProps {
  channel: APIChannel;
  /** The fields that the user has changed. */
  draft: ChannelChanges;
  error: unknown;
  onChange: (fields: ChannelChanges) => void;
}

/** A field as the user has set it, else as the channel has it. */
export function valueOf<Name extends Field>(
  channel: APIChannel,
  draft: ChannelChanges,
  field: Name,
): ChannelChanges[Name] {
  return field in draft ? draft[field] : (channel as unknown as ChannelChanges)[field];
}
