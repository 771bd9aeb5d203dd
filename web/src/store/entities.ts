import type { APIGuildMember } from "discord-api-types/v10";

export interface ActivityParticipant {
  user_id: string;
  session_id: string;
  member?: APIGuildMember;
}

/** A running Activity. */
export interface ActivityInstance {
  application_id: string;
  composite_instance_id: string;
  instance_id: string;
  location: { id: string; channel_id: string; guild_id?: string };
  participants: readonly ActivityParticipant[];
}

/** A command that is being used. */
export interface UsedCommand {
  channelId: string;
  /** With its subcommand, without the slash. */
  name: string;
  applicationName: string;
}

/** An interaction of the user that the application has not answered. */
export interface PendingInteraction {
  /** The component that was used, as `{message id} {custom id}`; empty for commands. */
  target: string;
  command: UsedCommand | null;
  failed: boolean;
  /** Why the server refused it; null if the application did not respond. */
  reason: string | null;
}

/** A modal that an application asks the user to fill in. */
export interface Modal {
  id: string;
  channel_id: string;
  application: { id: string; name: string };
  custom_id: string;
  title: string;
  components: readonly unknown[];
}

/** Choices for the option of a command that the user is filling in. */
export interface AutocompleteChoices {
  nonce: string | null;
  choices: readonly { name: string; name_localized?: string | null; value: string | number }[];
}

export interface MemberGroup {
  /** The id of a hoisted role, "online" or "offline". */
  id: string;
  count: number;
}

/** A row that the server has sent. */
export type ListedRow = { kind: "group"; id: string } | { kind: "member"; id: string };

/** A member list as far as it is loaded; rows without a value are not. */
export interface MemberListState {
  groups: readonly MemberGroup[];
  rows: readonly (ListedRow | undefined)[];
}

/** What another user is to the user. */
export interface Relationship {
  id: string;
  type: number;
  /** A name that only the user sees. */
  nickname: string | null;
  user_ignored: boolean;
  /** When it began (ISO 8601). */
  since: string;
}

/** A call in a direct message or group. Who is in it is in `voiceStates`, by the id of the channel. */
export interface CallState {
  messageId: string;
  /** The ids of the users who are being rung. */
  ringing: readonly string[];
}

/** Where the user's gateway session connects for the sound of its voice channel, and what it identifies with. */
export interface VoiceServer {
  /** In a call the id of its channel. */
  guild_id: string;
  token: string;
  /** Null where no sound is carried. */
  endpoint: string | null;
}

/** Data of VOICE_CHANNEL_EFFECT_SEND. */
export interface VoiceEffectData {
  channel_id: string;
  guild_id: string;
  user_id: string;
  emoji?: { id: string | null; name: string | null } | null;
  sound_id?: string;
  /** From 0 to 1. */
  sound_volume?: number;
}

/** A sound or emoji that a user sent in a voice channel. */
export interface VoiceEffect extends VoiceEffectData {
  /** When it arrived, in milliseconds since the epoch. */
  at: number;
}
