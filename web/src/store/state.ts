import type {
  APIChannel,
  APIEmoji,
  APIGuildMember,
  APIGuildScheduledEvent,
  APIMessage,
  APIRole,
  APIStageInstance,
  APISticker,
  APIStickerItem,
  APIThreadMember,
  APIUser,
  GatewayPresenceUpdate,
  GatewayVoiceState,
} from "discord-api-types/v10";

import type { ActivityInstance } from "./entities";
import type { AutocompleteChoices, Modal, PendingInteraction } from "./entities";
import type { MemberListState } from "./entities";
import type { Relationship } from "./entities";
import type { CallState, VoiceEffect, VoiceServer } from "./entities";
import { DEFAULT_SETTINGS, type GuildSettings, type UserSettings } from "./userSettings";
import type { ConnectionStatus } from "../gateway/protocol";

/** A guild without its members and channels, which have maps of their own. */
export interface GuildState {
  id: string;
  name: string;
  icon: string | null;
  ownerId: string;
  description: string | null;
  features: readonly string[];
  /** The level of boosts, which decides how large files may be. */
  premiumTier: number;
  memberCount: number;
  rulesChannelId: string | null;
  systemChannelId: string | null;
  /** Which messages notify members who have not chosen: 0 for all, 1 for mentions. */
  defaultNotifications: number;
  joinedAt: string | null;
  roles: Readonly<Record<string, APIRole>>;
  emojis: readonly APIEmoji[];
  stickers: readonly APISticker[];
  /** During an outage of the guild its data is kept but out of date. */
  unavailable: boolean;
}

/** Why a message was not sent, for the user to try again or discard it. */
export interface SendFailure {
  message: string;
}

/** A message that the user has sent and the server has not confirmed. */
export interface PendingMessage {
  nonce: string;
  channelId: string;
  content: string;
  fileNames: readonly string[];
  replyTo: APIMessage | null;
  /** Whether a reply notifies the author of the message that it replies to. */
  notifiesAuthor: boolean;
  stickers: readonly APIStickerItem[];
  createdAt: number;
  /** The uploaded share, from 0 to 1. */
  progress: number;
  failure: SendFailure | null;
}

/** The loaded part of a channel's messages: without a gap, oldest first. */
export interface MessageList {
  messages: readonly APIMessage[];
  hasOlder: boolean;
  hasNewer: boolean;
}

/** How far the user has read a channel. */
export interface ReadState {
  /** The newest message that was read; "0" for none. */
  lastMessageId: string;
  /** Messages since then that mention the user, all messages in direct messages. */
  mentions: number;
}

/** The user sees a guild as a member with these roles alone would. Changes what this client shows, nothing else. */
export interface RolePreview {
  guildId: string;
  roleIds: readonly string[];
}

export interface State {
  status: ConnectionStatus;
  /** Whether the first READY has arrived. */
  ready: boolean;
  user: APIUser | null;
  /** The server's largest request with files, in bytes; null until it has said it. */
  maxUploadBytes: number | null;
  /** The id of the gateway session, which interactions name. */
  sessionId: string | null;
  users: Readonly<Record<string, APIUser>>;
  /** By the id of the other user. */
  relationships: Readonly<Record<string, Relationship>>;
  /** The user's notes by the id of the user whom each is about. */
  notes: Readonly<Record<string, string>>;
  settings: UserSettings;
  /** Notification settings by guild, and under "@me" those of direct messages. */
  guildSettings: Readonly<Record<string, GuildSettings>>;
  guilds: Readonly<Record<string, GuildState>>;
  /** Guilds that READY listed and whose GUILD_CREATE has not arrived. */
  loadingGuilds: readonly string[];
  /** Channels of guilds, threads, and direct messages. */
  channels: Readonly<Record<string, APIChannel>>;
  /** Members by guild and user; only those that the server has sent. */
  members: Readonly<Record<string, Readonly<Record<string, APIGuildMember>>>>;
  /** By guild and the id of the list. */
  memberLists: Readonly<Record<string, Readonly<Record<string, MemberListState>>>>;
  presences: Readonly<Record<string, GatewayPresenceUpdate>>;
  /** The calls in direct messages and groups, by channel. */
  calls: Readonly<Record<string, CallState>>;
  /** Voice states by guild and user; those of calls by channel and user. */
  voiceStates: Readonly<Record<string, Readonly<Record<string, GatewayVoiceState>>>>;
  /** Where this page connects for sound; null until the server has said it for the present voice channel. */
  voiceServer: VoiceServer | null;
  /** The live stages, by stage channel. */
  stages: Readonly<Record<string, APIStageInstance>>;
  /** The texts below the names of voice channels. */
  voiceStatuses: Readonly<Record<string, string>>;
  /** The newest sound or emoji that was sent in the user's voice channel. */
  voiceEffect: VoiceEffect | null;
  scheduledEvents: Readonly<Record<string, APIGuildScheduledEvent>>;
  /** Whether the user is interested in an event, as far as the server has said it. */
  interests: Readonly<Record<string, boolean>>;
  /** The members of threads whose lists were opened, by thread and user. */
  threadMembers: Readonly<Record<string, Readonly<Record<string, APIThreadMember>>>>;
  /** The first messages of posts of forum and media channels, by post. */
  firstMessages: Readonly<Record<string, APIMessage>>;
  messages: Readonly<Record<string, MessageList>>;
  /** By channel; channels without one have not been read since the user can view them. */
  readStates: Readonly<Record<string, ReadState>>;
  pending: readonly PendingMessage[];
  /** By nonce. */
  interactions: Readonly<Record<string, PendingInteraction>>;
  modal: Modal | null;
  rolePreview: RolePreview | null;
  /** Running Activities by the id of the instance. */
  activities: Readonly<Record<string, ActivityInstance>>;
  /** The newest choices for an option of a command. */
  autocomplete: AutocompleteChoices | null;
  /** When each user's typing indicator ends, by channel and user, in milliseconds since the epoch. */
  typing: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export const INITIAL_STATE: State = {
  status: "connecting",
  ready: false,
  user: null,
  maxUploadBytes: null,
  sessionId: null,
  users: {},
  relationships: {},
  notes: {},
  settings: DEFAULT_SETTINGS,
  guildSettings: {},
  guilds: {},
  loadingGuilds: [],
  channels: {},
  members: {},
  memberLists: {},
  presences: {},
  calls: {},
  voiceStates: {},
  voiceServer: null,
  stages: {},
  voiceStatuses: {},
  voiceEffect: null,
  scheduledEvents: {},
  interests: {},
  threadMembers: {},
  firstMessages: {},
  messages: {},
  readStates: {},
  pending: [],
  interactions: {},
  modal: null,
  rolePreview: null,
  activities: {},
  autocomplete: null,
  typing: {},
};
