import type { GatewayPresenceUpdateData } from "discord-api-types/v10";

/** The statuses that a user can choose. */
export type Status = "online" | "idle" | "dnd" | "invisible";

/** What the user does; `type` is 4 for a custom status, whose text is `state`. */
export interface Activity {
  name: string;
  type: number;
  state?: string;
  emoji?: { name: string; id?: string };
}

/** Op 3, with the status as the text that is sent. */
export type Presence = Omit<GatewayPresenceUpdateData, "status" | "activities"> & {
  status: Status;
  activities: Activity[];
};

/** Op 14: the ranges of rows of a channel's member list that are shown. */
export interface MemberSubscription {
  guild_id: string;
  channels: Readonly<Record<string, readonly (readonly [first: number, last: number])[]>>;
}

/** Op 4: connect to a voice channel, or leave with null. There is no sound: others see who is there. */
export interface VoiceUpdate {
  guild_id: string | null;
  channel_id: string | null;
  self_mute: boolean;
  self_deaf: boolean;
  self_video: boolean;
}

/** Op 43: ask for fields of a guild's channels that no channel object has. */
export interface ChannelInfoRequest {
  guild_id: string;
  fields: readonly string[];
}

/** Op 31: ask for the sounds of guilds, which come as one SOUNDBOARD_SOUNDS for each. */
export interface SoundsRequest {
  guild_ids: readonly string[];
}

/**
 * What the worker connects with. It is the worker's name, as JSON: messages reach a new worker only when the page has
 * time for them, which it has not while it starts.
 */
export interface ConnectionStart {
  url: string;
  token: string;
  presence: Presence;
}

/** Messages from the page to the worker. */
export type Command =
  | { type: "disconnect" }
  | { type: "retry" }
  | { type: "offline" }
  | { type: "presence"; data: Presence }
  | { type: "subscribe"; data: MemberSubscription }
  | { type: "voice"; data: VoiceUpdate }
  | { type: "channelInfo"; data: ChannelInfoRequest }
  | { type: "sounds"; data: SoundsRequest };

export type ConnectionStatus = "connecting" | "connected" | "waiting" | "closed";

/** Messages from the worker to the page. */
export type Update =
  | { type: "dispatch"; name: string; data: unknown }
  /** `waiting` until the next attempt; `closed` for good, because the token is no longer valid. */
  | { type: "status"; status: ConnectionStatus };
