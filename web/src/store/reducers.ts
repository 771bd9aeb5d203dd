import type {
  APIChannel,
  APIGuild,
  APIGuildMember,
  APIMessage,
  APIRole,
  APIUser,
  GatewayChannelDeleteDispatchData,
  GatewayDispatchPayload,
  GatewayGuildCreateDispatchData,
  GatewayGuildDeleteDispatchData,
  GatewayGuildRoleDeleteDispatchData,
  GatewayGuildRoleModifyDispatchData,
  GatewayMessageCreateDispatchData,
  GatewayPresenceUpdate,
  GatewayReadyDispatchData,
  GatewayVoiceState,
} from "discord-api-types/v10";

import { activityUpdate, guildActivities } from "./activities";
import type { ActivityInstance, AutocompleteChoices, Relationship, VoiceEffectData } from "./entities";
import * as calls from "./calls";
import { guildIdOf, isForum, isThread, parentIdOf } from "./channels";
import { endInteraction, failInteraction, openModal, setChoices } from "./interactions";
import { updateMemberList, type MemberListUpdate } from "./memberLists";
import * as messages from "./messages";
import { acknowledge, countMessage, readStates } from "./reading";
import { filterEntries, keyBy, mapValues, updateEntry, withEntry, withoutEntry } from "./records";
import * as relationships from "./relationships";
import * as settings from "./settings";
import * as events from "./scheduledEvents";
import type { GuildState, State } from "./state";
import type { GuildSettings, UserSettings } from "./userSettings";
import * as threads from "./threads";
import * as voice from "./voice";

const TYPING_MS = 10_000;

/** The data of each dispatch of the public API, by its name. */
type PublicDispatches = {
  [Payload in GatewayDispatchPayload as `${Payload["t"]}`]: Payload["d"];
};

/** The data of each dispatch that users receive and bots do not, or in another form. */
interface OwnDispatches {
  VOICE_SERVER_UPDATE: Parameters<typeof voice.setVoiceServer>[1];
  CALL_CREATE: Parameters<typeof calls.putCall>[1];
  CALL_UPDATE: Parameters<typeof calls.updateCall>[1];
  CALL_DELETE: Parameters<typeof calls.removeCall>[1];
  VOICE_CHANNEL_EFFECT_SEND: VoiceEffectData;
  VOICE_CHANNEL_STATUS_UPDATE: Parameters<typeof voice.setVoiceStatus>[1];
  CHANNEL_INFO: Parameters<typeof voice.setVoiceStatuses>[1];
  GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE: Parameters<typeof events.putException>[1];
  GUILD_SCHEDULED_EVENT_EXCEPTION_DELETE: Parameters<typeof events.removeException>[1];
  GUILD_SCHEDULED_EVENT_EXCEPTIONS_DELETE: Parameters<typeof events.removeExceptions>[1];
  RELATIONSHIP_ADD: relationships.RelationshipWithUser;
  RELATIONSHIP_UPDATE: Relationship;
  RELATIONSHIP_REMOVE: { id: string };
  USER_NOTE_UPDATE: Parameters<typeof relationships.noteUpdate>[1];
  USER_SETTINGS_UPDATE: Partial<UserSettings>;
  USER_GUILD_SETTINGS_UPDATE: GuildSettings;
  CHANNEL_RECIPIENT_ADD: RecipientChange;
  CHANNEL_RECIPIENT_REMOVE: RecipientChange;
  GUILD_MEMBER_LIST_UPDATE: MemberListUpdate;
  EMBEDDED_ACTIVITY_UPDATE_V2: ActivityInstance;
  MESSAGE_ACK: Parameters<typeof acknowledge>[1];
  INTERACTION_SUCCESS: Parameters<typeof endInteraction>[1];
  INTERACTION_FAILURE: Parameters<typeof failInteraction>[1];
  INTERACTION_MODAL_CREATE: Parameters<typeof openModal>[1];
  APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE: AutocompleteChoices;
}

type Dispatches = Omit<PublicDispatches, keyof OwnDispatches> & OwnDispatches;
type Reducer<Data> = (state: State, data: Data, now: number) => State;

/** What each dispatch changes, by its name. Others change nothing. */
const REDUCERS: { readonly [Name in keyof Dispatches]?: Reducer<Dispatches[Name]> } = {
  READY: readyReducer,
  USER_UPDATE: (state, user) => ({
    ...state,
    user: { ...state.user, ...user },
    users: withEntry(state.users, user.id, user),
  }),
  GUILD_CREATE: guildCreate,
  GUILD_UPDATE: (state, guild) => ({
    ...state,
    guilds: updateEntry(state.guilds, guild.id, (before) => ({
      ...guildState(guild),
      memberCount: before.memberCount,
      joinedAt: before.joinedAt,
    })),
  }),
  GUILD_DELETE: guildDelete,
  GUILD_ROLE_CREATE: roleChange,
  GUILD_ROLE_UPDATE: roleChange,
  GUILD_ROLE_DELETE: roleDelete,
  GUILD_EMOJIS_UPDATE: (state, data) => ({
    ...state,
    guilds: updateEntry(state.guilds, data.guild_id, (guild) => ({ ...guild, emojis: data.emojis })),
  }),
  GUILD_STICKERS_UPDATE: (state, data) => ({
    ...state,
    guilds: updateEntry(state.guilds, data.guild_id, (guild) => ({ ...guild, stickers: data.stickers })),
  }),
  CHANNEL_CREATE: channelChange,
  CHANNEL_UPDATE: channelChange,
  CHANNEL_DELETE: channelDelete,
  THREAD_CREATE: (state, thread) => threads.putThread(state, thread),
  THREAD_UPDATE: (state, thread) => threads.putThread(state, thread),
  THREAD_DELETE: (state, data) => threads.deleteThread(state, data.id),
  THREAD_LIST_SYNC: threads.syncThreads,
  THREAD_MEMBER_UPDATE: (state, data) => threads.updateOwnMember(state, data),
  THREAD_MEMBERS_UPDATE: (state, data) => threads.updateMembers(state, data),
  STAGE_INSTANCE_CREATE: voice.putStage,
  STAGE_INSTANCE_UPDATE: voice.putStage,
  STAGE_INSTANCE_DELETE: voice.removeStage,
  VOICE_CHANNEL_EFFECT_SEND: voice.setVoiceEffect,
  VOICE_CHANNEL_STATUS_UPDATE: voice.setVoiceStatus,
  CHANNEL_INFO: voice.setVoiceStatuses,
  GUILD_SCHEDULED_EVENT_CREATE: events.putScheduledEvent,
  GUILD_SCHEDULED_EVENT_UPDATE: events.putScheduledEvent,
  GUILD_SCHEDULED_EVENT_DELETE: events.removeScheduledEvent,
  GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE: events.putException,
  GUILD_SCHEDULED_EVENT_EXCEPTION_DELETE: events.removeException,
  GUILD_SCHEDULED_EVENT_EXCEPTIONS_DELETE: events.removeExceptions,
  GUILD_SCHEDULED_EVENT_USER_ADD: (state, data) => events.countInterest(state, data, true),
  GUILD_SCHEDULED_EVENT_USER_REMOVE: (state, data) => events.countInterest(state, data, false),
  GUILD_MEMBER_ADD: (state, data) => countMember(putMember(state, data.guild_id, data), data.guild_id, 1),
  GUILD_MEMBER_UPDATE: (state, data) =>
    putMember(state, data.guild_id, {
      ...state.members[data.guild_id]?.[data.user.id],
      ...data,
    } as APIGuildMember),
  GUILD_MEMBER_REMOVE: (state, data) =>
    countMember(
      {
        ...state,
        members: updateEntry(state.members, data.guild_id, (members) => withoutEntry(members, data.user.id)),
      },
      data.guild_id,
      -1,
    ),
  GUILD_MEMBERS_CHUNK: (state, data) => ({
    ...state,
    members: withEntry(state.members, data.guild_id, {
      ...state.members[data.guild_id],
      ...keyBy(data.members, (member) => member.user.id),
    }),
    users: {
      ...state.users,
      ...keyBy(
        data.members.map((member) => member.user),
        (user) => user.id,
      ),
    },
  }),
  RELATIONSHIP_ADD: relationships.relationshipAdd,
  RELATIONSHIP_UPDATE: relationships.relationshipUpdate,
  RELATIONSHIP_REMOVE: relationships.relationshipRemove,
  USER_NOTE_UPDATE: relationships.noteUpdate,
  USER_SETTINGS_UPDATE: settings.settingsUpdate,
  USER_GUILD_SETTINGS_UPDATE: settings.guildSettingsUpdate,
  CHANNEL_RECIPIENT_ADD: (state, data) =>
    changeRecipients(state, data.channel_id, (users) => [
      ...users.filter((user) => user.id !== data.user.id),
      data.user,
    ]),
  CHANNEL_RECIPIENT_REMOVE: (state, data) =>
    changeRecipients(state, data.channel_id, (users) => users.filter((user) => user.id !== data.user.id)),
  GUILD_MEMBER_LIST_UPDATE: updateMemberList,
  PRESENCE_UPDATE: (state, data) => ({
    ...state,
    presences: withEntry(state.presences, data.user.id, data),
  }),
  EMBEDDED_ACTIVITY_UPDATE_V2: activityUpdate,
  VOICE_STATE_UPDATE: voice.updateVoiceState,
  VOICE_SERVER_UPDATE: voice.setVoiceServer,
  CALL_CREATE: calls.putCall,
  CALL_UPDATE: calls.updateCall,
  CALL_DELETE: calls.removeCall,
  MESSAGE_CREATE: messageCreate,
  MESSAGE_ACK: acknowledge,
  INTERACTION_SUCCESS: endInteraction,
  INTERACTION_FAILURE: failInteraction,
  INTERACTION_MODAL_CREATE: openModal,
  APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE: setChoices,
  MESSAGE_UPDATE: (state, data) => messages.updateMessage(state, data),
  MESSAGE_DELETE: (state, data) => messagesDelete(state, data.channel_id, [data.id]),
  MESSAGE_DELETE_BULK: (state, data) => messagesDelete(state, data.channel_id, data.ids),
  MESSAGE_REACTION_ADD: (state, data) => messages.addReaction(state, data),
  MESSAGE_REACTION_REMOVE: (state, data) => messages.removeReaction(state, data),
  MESSAGE_REACTION_REMOVE_ALL: (state, data) =>
    messages.removeAllReactions(state, data.channel_id, data.message_id),
  MESSAGE_REACTION_REMOVE_EMOJI: (state, data) =>
    messages.removeAllReactions(state, data.channel_id, data.message_id, data.emoji),
  MESSAGE_POLL_VOTE_ADD: (state, data) => messages.countVote(state, data, 1),
  MESSAGE_POLL_VOTE_REMOVE: (state, data) => messages.countVote(state, data, -1),
  TYPING_START: (state, data, now) => ({
    ...state,
    typing: withEntry(state.typing, data.channel_id, {
      ...filterEntries(state.typing[data.channel_id] ?? {}, (end) => end > now),
      [data.user_id]: now + TYPING_MS,
    }),
  }),
};

/** The state after a dispatch. `now` is in milliseconds since the epoch. */
export function reduce(state: State, name: string, data: unknown, now: number): State {
  // The server decides what the data of a dispatch is.
  return isDispatch(name) ? apply(state, name, data as Dispatches[typeof name], now) : state;
}

function isDispatch(name: string): name is keyof Dispatches {
  return Object.hasOwn(REDUCERS, name);
}

function apply<Name extends keyof Dispatches>(
  state: State,
  name: Name,
  data: Dispatches[Name],
  now: number,
): State {
  const reducer: Reducer<Dispatches[Name]> | undefined = REDUCERS[name];
  return reducer === undefined ? state : reducer(state, data, now);
}

function readyReducer(state: State, data: GatewayReadyDispatchData): State {
  // A new session: what the server does not send again may have changed meanwhile, so it is dropped.
  const privateChannels = (data as { private_channels?: APIChannel[] }).private_channels ?? [];
  return {
    ...state,
    ready: true,
    user: data.user,
    maxUploadBytes: (data as { max_upload_bytes?: number }).max_upload_bytes ?? null,
    sessionId: data.session_id,
    ...relationships.readyRelationships(
      { ...state, users: withEntry(state.users, data.user.id, data.user) },
      data as relationships.ReadyRelationships,
    ),
    ...settings.readySettings(data as settings.ReadySettings),
    presences: {
      ...state.presences,
      ...keyBy((data as { presences?: GatewayPresenceUpdate[] }).presences ?? [], (each) => each.user.id),
    },
    guilds: filterEntries(state.guilds, (_guild, id) => data.guilds.some((listed) => listed.id === id)),
    loadingGuilds: data.guilds.map((guild) => guild.id),
    channels: {
      ...keyBy(privateChannels, (channel) => channel.id),
    },
    memberLists: {},
    messages: {},
    activities: {},
    threadMembers: {},
    firstMessages: {},
    stages: {},
    calls: {},
    voiceStates: calls.voiceStatesOfGuilds(state),
    voiceServer: null,
    voiceStatuses: {},
    voiceEffect: null,
    scheduledEvents: {},
    interests: {},
    readStates: readStates(data),
    typing: {},
  };
}

function guildState(guild: APIGuild): GuildState {
  return {
    id: guild.id,
    name: guild.name,
    icon: guild.icon,
    ownerId: guild.owner_id,
    description: guild.description,
    features: guild.features,
    premiumTier: guild.premium_tier,
    memberCount: 0,
    rulesChannelId: guild.rules_channel_id,
    systemChannelId: guild.system_channel_id,
    defaultNotifications: guild.default_message_notifications,
    joinedAt: null,
    roles: keyBy(guild.roles, (role) => role.id),
    emojis: guild.emojis,
    stickers: guild.stickers ?? [],
    unavailable: false,
  };
}

function guildCreate(state: State, data: GatewayGuildCreateDispatchData): State {
  const channels = [...data.channels, ...data.threads].map((channel) => ({ ...channel, guild_id: data.id }));
  const others = filterEntries(state.channels, (channel) => guildIdOf(channel) !== data.id);
  return {
    ...state,
    guilds: withEntry(state.guilds, data.id, {
      ...guildState(data),
      memberCount: data.member_count,
      joinedAt: data.joined_at,
    }),
    loadingGuilds: state.loadingGuilds.filter((id) => id !== data.id),
    activities: guildActivities(
      state,
      data.id,
      (data as { activity_instances?: ActivityInstance[] }).activity_instances ?? [],
    ),
    channels: { ...others, ...keyBy(channels, (channel) => channel.id) },
    members: withEntry(
      state.members,
      data.id,
      keyBy(data.members, (member) => member.user.id),
    ),
    users: {
      ...state.users,
      ...keyBy(
        data.members.map((member) => member.user),
        (user) => user.id,
      ),
    },
    presences: {
      ...state.presences,
      ...keyBy(data.presences, (presence) => presence.user.id),
    },
    voiceStates: withEntry(
      state.voiceStates,
      data.id,
      keyBy(data.voice_states as GatewayVoiceState[], (voiceState) => voiceState.user_id),
    ),
    stages: {
      ...filterEntries(state.stages, (stage) => stage.guild_id !== data.id),
      ...keyBy(data.stage_instances, (stage) => stage.channel_id),
    },
    scheduledEvents: {
      ...filterEntries(state.scheduledEvents, (event) => event.guild_id !== data.id),
      ...keyBy(data.guild_scheduled_events, (event) => event.id),
    },
  };
}

function guildDelete(state: State, data: GatewayGuildDeleteDispatchData): State {
  if (data.unavailable) {
    return {
      ...state,
      guilds: updateEntry(state.guilds, data.id, (guild) => ({ ...guild, unavailable: true })),
    };
  }
  const channelIds = new Set(
    Object.values(state.channels)
      .filter((channel) => guildIdOf(channel) === data.id)
      .map((channel) => channel.id),
  );
  return {
    ...state,
    guilds: withoutEntry(state.guilds, data.id),
    loadingGuilds: state.loadingGuilds.filter((id) => id !== data.id),
    channels: filterEntries(state.channels, (_channel, id) => !channelIds.has(id)),
    messages: filterEntries(state.messages, (_list, id) => !channelIds.has(id)),
    members: withoutEntry(state.members, data.id),
    memberLists: withoutEntry(state.memberLists, data.id),
    voiceStates: withoutEntry(state.voiceStates, data.id),
    stages: filterEntries(state.stages, (stage) => stage.guild_id !== data.id),
    scheduledEvents: filterEntries(state.scheduledEvents, (event) => event.guild_id !== data.id),
  };
}

function roleChange(state: State, data: GatewayGuildRoleModifyDispatchData): State {
  const role: APIRole = data.role;
  return {
    ...state,
    guilds: updateEntry(state.guilds, data.guild_id, (guild) => ({
      ...guild,
      roles: withEntry(guild.roles, role.id, role),
    })),
  };
}

/** Members, overwrites and emojis lose a deleted role without further events. */
function roleDelete(state: State, data: GatewayGuildRoleDeleteDispatchData): State {
  const { guild_id: guildId, role_id: roleId } = data;
  const others = (ids: readonly string[]) => ids.filter((id) => id !== roleId);
  return {
    ...state,
    guilds: updateEntry(state.guilds, guildId, (guild) => ({
      ...guild,
      roles: withoutEntry(guild.roles, roleId),
      emojis: guild.emojis.map((emoji) =>
        emoji.roles?.includes(roleId) === true ? { ...emoji, roles: others(emoji.roles) } : emoji,
      ),
    })),
    channels: mapValues(state.channels, (channel) =>
      "permission_overwrites" in channel && channel.permission_overwrites?.some(({ id }) => id === roleId)
        ? {
            ...channel,
            permission_overwrites: channel.permission_overwrites.filter(({ id }) => id !== roleId),
          }
        : channel,
    ),
    members: updateEntry(state.members, guildId, (members) =>
      mapValues(members, (member) =>
        member.roles.includes(roleId) ? { ...member, roles: others(member.roles) } : member,
      ),
    ),
  };
}

function channelChange(state: State, channel: APIChannel): State {
  const before = state.channels[channel.id] as Partial<APIChannel> | undefined;
  return {
    ...state,
    channels: withEntry(state.channels, channel.id, { ...newestOf(before), ...channel }),
  };
}

/** The fields that change with messages: events leave them out where they have not changed. */
function newestOf(channel: Partial<APIChannel> = {}): object {
  return Object.fromEntries(
    Object.entries(channel).filter(([name]) => name === "last_message_id" || name === "last_pin_timestamp"),
  );
}

interface RecipientChange {
  channel_id: string;
  user: APIUser;
}

/** Change the recipients of a group direct message. */
function changeRecipients(state: State, channelId: string, change: (users: APIUser[]) => APIUser[]): State {
  return {
    ...state,
    channels: updateEntry(state.channels, channelId, (channel) =>
      "recipients" in channel ? { ...channel, recipients: change(channel.recipients ?? []) } : channel,
    ),
  };
}

function channelDelete(state: State, channel: GatewayChannelDeleteDispatchData): State {
  return {
    // Who has left a group hears of its call no longer.
    ...(state.calls[channel.id] === undefined ? state : calls.removeCall(state, { channel_id: channel.id })),
    channels: filterEntries(
      state.channels,
      (each, id) => id !== channel.id && !(isThread(each) && parentIdOf(each) === channel.id),
    ),
    messages: withoutEntry(state.messages, channel.id),
  };
}

function putMember(state: State, guildId: string, member: APIGuildMember): State {
  return {
    ...state,
    members: withEntry(
      state.members,
      guildId,
      withEntry(state.members[guildId] ?? {}, member.user.id, member),
    ),
    users: withEntry(state.users, member.user.id, member.user),
  };
}

function countMember(state: State, guildId: string, by: number): State {
  return {
    ...state,
    guilds: updateEntry(state.guilds, guildId, (guild) => ({
      ...guild,
      memberCount: guild.memberCount + by,
    })),
  };
}

function messageCreate(state: State, data: GatewayMessageCreateDispatchData, now: number): State {
  const message = data as unknown as APIMessage;
  const channel = state.channels[message.channel_id];
  const guildId = channel === undefined ? null : guildIdOf(channel);
  const added = countMessage(messages.addMessage(state, message), message, guildId, now);
  const typing = updateEntry(added.typing, message.channel_id, (users) =>
    filterEntries(users, (end, id) => id !== message.author.id && end > now),
  );
  const channels = updateEntry(added.channels, message.channel_id, (before) => {
    const counted = threads.isStarter(message) ? before : threads.countThreadMessage(before, 1);
    return { ...counted, last_message_id: message.id } as APIChannel;
  });
  const known = {
    ...added,
    typing,
    channels,
    users: withEntry(added.users, message.author.id, message.author),
  };
  return isFirstOfPost(state, message) ? threads.setFirstMessages(known, [message]) : known;
}

/** Whether a message began a post: it has the id of its thread, which is in a forum or media channel. */
function isFirstOfPost(state: State, message: APIMessage): boolean {
  const parent = state.channels[parentIdOf(state.channels[message.channel_id] ?? ({} as APIChannel)) ?? ""];
  return message.id === message.channel_id && parent !== undefined && isForum(parent);
}

function messagesDelete(state: State, channelId: string, ids: readonly string[]): State {
  const removed = messages.removeMessages(state, channelId, ids);
  const starterId = state.messages[channelId]?.messages.find(threads.isStarter)?.id ?? channelId;
  const counted = ids.filter((id) => id !== starterId);
  const channels = updateEntry(removed.channels, channelId, (channel) =>
    counted.reduce((before) => threads.countThreadMessage(before, -1), channel),
  );
  const firstMessages = ids.includes(channelId)
    ? withoutEntry(removed.firstMessages, channelId)
    : removed.firstMessages;
  return { ...removed, channels, firstMessages };
}
