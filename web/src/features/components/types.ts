import type { APIEmoji } from "discord-api-types/v10";

/** A component as the API sends it: which fields it has depends on its type. */
export interface Component {
  type: number;
  id?: number;
  custom_id?: string;
  label?: string | null;
  description?: string | null;
  style?: number;
  url?: string;
  disabled?: boolean;
  placeholder?: string | null;
  min_values?: number;
  max_values?: number;
  /** Null, like one that is missing, where the application set none. */
  min_length?: number | null;
  max_length?: number | null;
  required?: boolean;
  value?: string;
  default?: boolean;
  /** What a select of users, roles or channels has chosen. */
  default_values?: readonly { id: string; type: string }[];
  /** Extensions with their dots, and groups of them. */
  file_types?: readonly string[];
  emoji?: Partial<APIEmoji>;
  options?: Option[];
  channel_types?: number[];
  content?: string;
  components?: Component[];
  component?: Component;
  accessory?: Component;
  media?: Media;
  file?: Media;
  items?: { media: Media; description?: string | null; spoiler?: boolean }[];
  name?: string;
  size?: number;
  accent_color?: number | null;
  spoiler?: boolean;
  divider?: boolean;
  spacing?: number;
}

export interface Option {
  label: string;
  value: string;
  description?: string | null;
  default?: boolean;
  emoji?: Partial<APIEmoji>;
}

export interface Media {
  url: string;
  proxy_url?: string;
  content_type?: string | null;
  width?: number | null;
  height?: number | null;
}
