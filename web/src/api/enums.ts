/* eslint-disable @typescript-eslint/no-unsafe-enum-assignment -- the values are compared with the package in a test */
import type * as api from "discord-api-types/v10";

/**
 * The enums of discord-api-types that this client uses. Importing them from there would put the whole package into the
 * build, since it is one CommonJS module; a test compares the values.
 */
type Enum<Name extends keyof typeof api> = Partial<(typeof api)[Name]>;

export type ChannelType = api.ChannelType;
export const ChannelType = {
  GuildText: 0,
  DM: 1,
  GuildVoice: 2,
  GroupDM: 3,
  GuildCategory: 4,
  GuildAnnouncement: 5,
  AnnouncementThread: 10,
  PublicThread: 11,
  PrivateThread: 12,
  GuildStageVoice: 13,
  GuildForum: 15,
  GuildMedia: 16,
} satisfies Enum<"ChannelType"> as Pick<
  typeof api.ChannelType,
  | "GuildText"
  | "DM"
  | "GuildVoice"
  | "GroupDM"
  | "GuildCategory"
  | "GuildAnnouncement"
  | "AnnouncementThread"
  | "PublicThread"
  | "PrivateThread"
  | "GuildStageVoice"
  | "GuildForum"
  | "GuildMedia"
>;

export type MessageType = api.MessageType;
export const MessageType = {
  Default: 0,
  RecipientAdd: 1,
  RecipientRemove: 2,
  Call: 3,
  ChannelNameChange: 4,
  ChannelIconChange: 5,
  ChannelPinnedMessage: 6,
  UserJoin: 7,
  GuildBoost: 8,
  GuildBoostTier1: 9,
  GuildBoostTier2: 10,
  GuildBoostTier3: 11,
  ChannelFollowAdd: 12,
  ThreadCreated: 18,
  Reply: 19,
  ChatInputCommand: 20,
  ThreadStarterMessage: 21,
  ContextMenuCommand: 23,
  AutoModerationAction: 24,
  StageStart: 27,
  StageEnd: 28,
  StageTopic: 31,
  PollResult: 46,
} satisfies Enum<"MessageType"> as Pick<
  typeof api.MessageType,
  | "Default"
  | "RecipientAdd"
  | "RecipientRemove"
  | "Call"
  | "ChannelNameChange"
  | "ChannelIconChange"
  | "ChannelPinnedMessage"
  | "UserJoin"
  | "GuildBoost"
  | "GuildBoostTier1"
  | "GuildBoostTier2"
  | "GuildBoostTier3"
  | "ChannelFollowAdd"
  | "ThreadCreated"
  | "Reply"
  | "ChatInputCommand"
  | "ThreadStarterMessage"
  | "ContextMenuCommand"
  | "AutoModerationAction"
  | "StageStart"
  | "StageEnd"
  | "StageTopic"
  | "PollResult"
>;

export const ComponentType = {
  ActionRow: 1,
  Button: 2,
  StringSelect: 3,
  TextInput: 4,
  UserSelect: 5,
  RoleSelect: 6,
  MentionableSelect: 7,
  ChannelSelect: 8,
  Section: 9,
  TextDisplay: 10,
  Thumbnail: 11,
  MediaGallery: 12,
  File: 13,
  Separator: 14,
  Container: 17,
  Label: 18,
  FileUpload: 19,
  RadioGroup: 21,
  CheckboxGroup: 22,
  Checkbox: 23,
} as const;

export const InviteTargetType = { Stream: 1, EmbeddedApplication: 2 } satisfies Enum<"InviteTargetType">;

export const ApplicationCommandType = {
  ChatInput: 1,
  User: 2,
  Message: 3,
} satisfies Enum<"ApplicationCommandType">;

export const ApplicationCommandOptionType = {
  Subcommand: 1,
  SubcommandGroup: 2,
  String: 3,
  Integer: 4,
  Boolean: 5,
  User: 6,
  Channel: 7,
  Role: 8,
  Mentionable: 9,
  Number: 10,
  Attachment: 11,
} satisfies Enum<"ApplicationCommandOptionType">;

export const MessageFlag = {
  Crossposted: 1 << 0,
  IsCrosspost: 1 << 1,
  SuppressEmbeds: 1 << 2,
  Ephemeral: 1 << 6,
  Loading: 1 << 7,
  IsVoiceMessage: 1 << 13,
  HasSnapshot: 1 << 14,
  IsComponentsV2: 1 << 15,
} as const;

/** All types of mentions, which are allowed where nothing else is said. */
export const ALL_MENTIONS = ["everyone", "roles", "users"] as api.AllowedMentionsTypes[];

export const OverwriteType = { Role: 0, Member: 1 } satisfies Enum<"OverwriteType"> as Pick<
  typeof api.OverwriteType,
  "Role" | "Member"
>;

export const EmbedType = {
  Rich: "rich",
  Image: "image",
  Video: "video",
  GIFV: "gifv",
  Article: "article",
} as const;

export const Permission = {
  CreateInstantInvite: 1n << 0n,
  KickMembers: 1n << 1n,
  BanMembers: 1n << 2n,
  Administrator: 1n << 3n,
  ManageChannels: 1n << 4n,
  ManageGuild: 1n << 5n,
  AddReactions: 1n << 6n,
  ViewAuditLog: 1n << 7n,
  PrioritySpeaker: 1n << 8n,
  Stream: 1n << 9n,
  ViewChannel: 1n << 10n,
  SendMessages: 1n << 11n,
  SendTTSMessages: 1n << 12n,
  ManageMessages: 1n << 13n,
  EmbedLinks: 1n << 14n,
  AttachFiles: 1n << 15n,
  ReadMessageHistory: 1n << 16n,
  MentionEveryone: 1n << 17n,
  UseExternalEmojis: 1n << 18n,
  ViewGuildInsights: 1n << 19n,
  Connect: 1n << 20n,
  Speak: 1n << 21n,
  MuteMembers: 1n << 22n,
  DeafenMembers: 1n << 23n,
  MoveMembers: 1n << 24n,
  UseVAD: 1n << 25n,
  ChangeNickname: 1n << 26n,
  ManageNicknames: 1n << 27n,
  ManageRoles: 1n << 28n,
  ManageWebhooks: 1n << 29n,
  ManageGuildExpressions: 1n << 30n,
  UseApplicationCommands: 1n << 31n,
  RequestToSpeak: 1n << 32n,
  ManageEvents: 1n << 33n,
  ManageThreads: 1n << 34n,
  CreatePublicThreads: 1n << 35n,
  CreatePrivateThreads: 1n << 36n,
  UseExternalStickers: 1n << 37n,
  SendMessagesInThreads: 1n << 38n,
  UseEmbeddedActivities: 1n << 39n,
  ModerateMembers: 1n << 40n,
  ViewCreatorMonetizationAnalytics: 1n << 41n,
  UseSoundboard: 1n << 42n,
  CreateGuildExpressions: 1n << 43n,
  CreateEvents: 1n << 44n,
  UseExternalSounds: 1n << 45n,
  SendVoiceMessages: 1n << 46n,
  SetVoiceChannelStatus: 1n << 48n,
  SendPolls: 1n << 49n,
  UseExternalApps: 1n << 50n,
  PinMessages: 1n << 51n,
  BypassSlowmode: 1n << 52n,
} as const;

export type PermissionName = keyof typeof Permission;
