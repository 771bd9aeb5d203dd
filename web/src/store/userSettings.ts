/** The custom status of a user; `expires_at` is ISO 8601, null for never. */
export interface CustomStatus {
  text: string | null;
  emoji_id: string | null;
  emoji_name: string | null;
  expires_at: string | null;
}

/** Guilds that stand together in the list of guilds. An entry without an id is a guild alone. */
export interface GuildFolder {
  id: number | null;
  guild_ids: readonly string[];
  name: string | null;
  color: number | null;
}

/** The settings of the user that this client uses; the server keeps the others. */
export interface UserSettings {
  status: "online" | "idle" | "dnd" | "invisible";
  custom_status: CustomStatus | null;
  guild_folders: readonly GuildFolder[];
  default_guilds_restricted: boolean;
  restricted_guilds: readonly string[];
  friend_source_flags: { all?: boolean; mutual_friends?: boolean; mutual_guilds?: boolean } | null;
  show_current_game: boolean;
  developer_mode: boolean;
}

export const DEFAULT_SETTINGS: UserSettings = {
  status: "online",
  custom_status: null,
  guild_folders: [],
  default_guilds_restricted: false,
  restricted_guilds: [],
  friend_source_flags: { all: true },
  show_current_game: true,
  developer_mode: false,
};

/** Until when something is muted (ISO 8601); null for until it is unmuted. */
export interface MuteConfig {
  end_time?: string | null;
  selected_time_window?: number | null;
}

export interface ChannelOverride {
  channel_id: string;
  collapsed: boolean;
  flags: number;
  message_notifications: number;
  muted: boolean;
  mute_config: MuteConfig | null;
}

/** The notification settings of a guild, or of direct messages. */
export interface GuildSettings {
  guild_id: string | null;
  channel_overrides: readonly ChannelOverride[];
  flags: number;
  hide_muted_channels: boolean;
  message_notifications: number;
  mobile_push: boolean;
  mute_scheduled_events: boolean;
  muted: boolean;
  mute_config: MuteConfig | null;
  suppress_everyone: boolean;
  suppress_roles: boolean;
}
