import type { GuildState } from "../../store/state";

/** What a section of the settings of a guild is drawn with. */
export interface SectionProps {
  guild: GuildState;
  /** The user's permissions in the guild. */
  permissions: bigint;
  /** What is open within the section, such as a role. */
  itemId: string | null;
}
