import type { APIUser } from "discord-api-types/v10";

import {
  authorize,
  getAuthorizationRequest,
  getAvailableSkus,
  getQuickLink,
  getTokenInformation,
} from "../../api/activities";
import type { ActivityInstance } from "../../store/entities";
import { channelPermissions, has } from "../../store/permissions";
import { guildIdOf } from "../../store/channels";
import type { State } from "../../store/state";
import { Permission } from "../../api/enums";
import { originalMessage } from "../../api/errors";
import type { Session } from "../session/session";
import { customActivities } from "../session/activities";
import { activityLink } from "./launching";
import { ErrorCode, RpcError, type Arguments, type Command, type Needs } from "./rpc";
import { findCommand, type PreviewButton, type PreviewImage, type SharedCommand } from "./sharing";

/** How the client shows an Activity, with the numbers of the public SDK. */
export const Layout = { Focused: 0, PictureInPicture: 1, Grid: 2 } as const;
export type LayoutMode = (typeof Layout)[keyof typeof Layout];

/** What commands ask of the user or change on the screen. */
export interface Screen {
  /** The origin of the Activity's page. */
  origin: string;
  /** Ask whether the application may have these scopes. */
  askForConsent: (name: string, scopes: readonly string[]) => Promise<boolean>;
  /** Ask whether to open a link, and open it; resolves to whether it was opened. */
  askForLink: (url: URL) => Promise<boolean>;
  showInvite: () => void;
  /** Offer to send or copy a link to the Activity. */
  shareLink: (message: string, link: string) => Promise<ShareResult>;
  /** Offer to send a picture or video, by its path on this server. */
  shareMedia: (path: string) => Promise<void>;
  /** Offer to use a command of the application in a channel; resolves to whether it was used. */
  shareCommand: (shared: SharedCommand) => Promise<boolean>;
  /** Let the user choose and upload an image; its URL, or null if they do not. */
  chooseImage: () => Promise<string | null>;
  /** Ask whether to invite a user, and do so; resolves to whether they were invited. */
  askForUserInvite: (user: APIUser, message: string) => Promise<boolean>;
  /** Give the proxy a new ticket; resolves to it. */
  refreshTicket: () => Promise<string>;
  setInteractive: (interactive: boolean) => void;
  setOrientation: (lock: number) => void;
  onAuthenticated: (scopes: readonly string[]) => void;
}

/** What became of a link that was offered to be shared, as SHARE_LINK is answered. */
export interface ShareResult {
  success: boolean;
  didCopyLink: boolean;
  didSendMessage: boolean;
}

const MAX_EDGE = 16_384;
const MAX_ROWS = 5;

/**
 * What each event needs. Some never come: there are no quests here, and no presence leads into an Activity by a secret.
 * They can be subscribed to all the same, so that an Activity that does so starts.
 */
export const EVENTS: Readonly<Record<string, Needs>> = {
  ACTIVITY_INSTANCE_PARTICIPANTS_UPDATE: null,
  ACTIVITY_LAYOUT_MODE_UPDATE: null,
  ORIENTATION_UPDATE: null,
  THERMAL_STATE_UPDATE: null,
  CURRENT_USER_UPDATE: ["identify"],
  CURRENT_GUILD_MEMBER_UPDATE: ["identify", "guilds.members.read"],
  ENTITLEMENT_CREATE: [],
  RELATIONSHIP_UPDATE: ["relationships.read"],
  VOICE_STATE_UPDATE: ["rpc.voice.read"],
  SPEAKING_START: ["rpc.voice.read"],
  SPEAKING_STOP: ["rpc.voice.read"],
  ACTIVITY_JOIN: null,
  QUEST_ENROLLMENT_STATUS_UPDATE: [],
};

/** The commands of the public SDK that a browser can carry out. */
export function createCommands(
  session: Session,
  instance: ActivityInstance,
  screen: Screen,
): Record<string, Command> {
  const applicationId = instance.application_id;
  const { store, api } = session;
  return {
    AUTHORIZE: { needs: null, run: (args) => authorizeApplication(session, applicationId, screen, args) },
    AUTHENTICATE: {
      needs: null,
      run: async ({ access_token: token }) => {
        const information = await getTokenInformation(string(token)).catch(() => null);
        if (information?.application.id !== applicationId || information.user?.id !== store.state.user?.id) {
          throw new RpcError(ErrorCode.InvalidToken, "Invalid token");
        }
        screen.onAuthenticated(information.scopes);
        const { user, application } = information;
        return {
          access_token: token,
          user: { ...user, public_flags: user?.public_flags ?? 0 },
          scopes: information.scopes,
          expires: information.expires,
          application: {
            id: application.id,
            name: application.name,
            icon: application.icon,
            description: application.description,
            rpc_origins: [],
          },
        };
      },
    },
    GET_ACTIVITY_INSTANCE_CONNECTED_PARTICIPANTS: {
      needs: null,
      run: () => participantsOf(store.state, instance.instance_id),
    },
    GET_CHANNEL: { needs: ["guilds"], run: (args) => channelOf(store.state, string(args["channel_id"])) },
    GET_CHANNEL_PERMISSIONS: {
      needs: ["guilds.members.read"],
      run: () => ({ permissions: ownPermissions(store.state, instance).toString() }),
    },
    GET_USER: {
      needs: ["identify"],
      run: (args) => {
        const user = store.state.users[string(args["id"])];
        return user === undefined ? null : rpcUser(user);
      },
    },
    GET_RELATIONSHIPS: {
      needs: ["relationships.read"],
      run: () => ({
        relationships: Object.entries(store.state.relationships).flatMap(([id, { type }]) => {
          const user = store.state.users[id];
          return user === undefined ? [] : [{ type, user: rpcUser(user) }];
        }),
      }),
    },
    GET_ENTITLEMENTS_EMBEDDED: {
      needs: [],
      run: async () => ({
        entitlements: await api.request("GET", `/users/@me/applications/${applicationId}/entitlements`),
      }),
    },
    SET_ACTIVITY: {
      needs: ["rpc.activities.write"],
      run: (args) => setActivity(session, applicationId, args),
    },
    OPEN_EXTERNAL_LINK: {
      needs: null,
      run: async (args) => ({ opened: await screen.askForLink(webAddress(string(args["url"]))) }),
    },
    OPEN_INVITE_DIALOG: {
      needs: null,
      run: () => {
        if (instance.location.guild_id === undefined) {
          throw new RpcError(ErrorCode.InvalidChannel, "Invalid channel");
        }
        if (!has(ownPermissions(store.state, instance), Permission.CreateInstantInvite)) {
          throw new RpcError(ErrorCode.InvalidPermissions, "Missing permission to invite");
        }
        screen.showInvite();
        return null;
      },
    },
    SHARE_LINK: {
      needs: null,
      run: async (args) => {
        const linkId = optionalText(args, "link_id", 64);
        const customId = optionalText(args, "custom_id", 64);
        const text = requiredText(args, "message", 1_000);
        if (linkId !== "" && (await getQuickLink(api, applicationId, linkId).catch(() => null)) === null) {
          throw new RpcError(ErrorCode.InvalidPayload, "Unknown link");
        }
        const referrerId = store.state.user?.id ?? "";
        return screen.shareLink(text, activityLink({ applicationId, referrerId, customId, linkId }));
      },
    },
    SHARE_INTERACTION: {
      needs: null,
      run: async (args) => ({
        success: await screen.shareCommand(await sharedCommand(session, instance, screen.origin, args)),
      }),
    },
    OPEN_SHARE_MOMENT_DIALOG: {
      needs: null,
      run: (args) => screen.shareMedia(ownMediaPath(requiredText(args, "mediaUrl", 1_024))),
    },
    INITIATE_IMAGE_UPLOAD: {
      needs: null,
      run: async () => {
        if (!mayAttach(store.state, instance)) {
          throw new RpcError(ErrorCode.InvalidPermissions, "Missing permission to attach files");
        }
        const url = await screen.chooseImage();
        if (url === null) {
          throw new RpcError(ErrorCode.TransactionAborted, "The user has chosen no image");
        }
        return { image_url: url };
      },
    },
    INVITE_USER_EMBEDDED: {
      needs: [],
      run: async (args) => {
        const user = store.state.users[requiredText(args, "user_id", 64)];
        if (user === undefined || user.bot === true || user.id === store.state.user?.id) {
          throw new RpcError(ErrorCode.InvalidUser, "Invalid user");
        }
        if (!(await screen.askForUserInvite(user, optionalText(args, "content", 1_024)))) {
          throw new RpcError(ErrorCode.TransactionAborted, "The user has not sent the invite");
        }
        return null;
      },
    },
    GET_SKUS_EMBEDDED: {
      needs: [],
      run: async () => ({
        skus: (await getAvailableSkus(api, applicationId)).map((sku) => ({
          ...pick(sku as unknown as Arguments, [
            "id",
            "name",
            "type",
            "application_id",
            "flags",
            "release_date",
          ]),
          // There are no payments on this server.
          price: { amount: 0, currency: "usd" },
        })),
      }),
    },
    START_PURCHASE: {
      needs: [],
      run: () => {
        throw new RpcError(ErrorCode.PurchaseError, "There are no payments on this server");
      },
    },
    GET_QUEST: { needs: [], run: refuseQuests },
    GET_QUEST_ENROLLMENT_STATUS: { needs: [], run: refuseQuests },
    QUEST_START_TIMER: { needs: [], run: refuseQuests },
    REQUEST_PROXY_TICKET_REFRESH: {
      needs: null,
      run: async () => ({ ticket: await screen.refreshTicket() }),
    },
    GET_SELECTED_VOICE_CHANNEL: {
      needs: ["rpc.voice.read"],
      run: () => {
        const channelId = selectedVoiceChannel(store.state);
        return channelId === null ? null : channelOf(store.state, channelId);
      },
    },
    CAPTURE_LOG: { needs: null, run: (args) => log(applicationId, args) },
    ENCOURAGE_HW_ACCELERATION: { needs: null, run: () => ({ enabled: true }) },
    GET_PLATFORM_BEHAVIORS: { needs: null, run: () => ({ iosKeyboardResizesView: true }) },
    USER_SETTINGS_GET_LOCALE: {
      needs: ["identify"],
      run: () => ({ locale: store.state.user?.locale ?? navigator.language }),
    },
    SET_CONFIG: {
      needs: null,
      run: ({ use_interactive_pip: interactive }) => {
        screen.setInteractive(interactive === true);
        return { use_interactive_pip: interactive === true };
      },
    },
    SET_ORIENTATION_LOCK_STATE: {
      needs: null,
      run: ({ lock_state: lock }) => {
        if (lock !== 1 && lock !== 2 && lock !== 3) {
          throw new RpcError(ErrorCode.InvalidPayload, "Invalid lock state");
        }
        screen.setOrientation(lock);
        return null;
      },
    },
  };
}

/** The participants of an instance, with what the Activity may know of each of them. */
export function participantsOf(state: State, instanceId: string): { participants: unknown[] } {
  const participants = state.activities[instanceId]?.participants ?? [];
  return {
    participants: participants.flatMap(({ user_id: id, member }) => {
      const user = member?.user ?? state.users[id];
      return user === undefined ? [] : [{ ...rpcUser(user), ...(member?.nick && { nickname: member.nick }) }];
    }),
  };
}

/** A user as the public SDK reads it. */
export function rpcUser(user: APIUser): Record<string, unknown> {
  return {
    id: user.id,
    username: user.username,
    discriminator: user.discriminator,
    global_name: user.global_name,
    avatar: user.avatar,
    avatar_decoration_data: null,
    flags: user.public_flags ?? 0,
    bot: user.bot ?? false,
    premium_type: 0,
  };
}

/** The voice states in a channel; with `before`, those that it has not had as they are. */
export function voiceStatesOf(state: State, channelId: string, before?: State): unknown[] {
  const channel = state.channels[channelId];
  const guildId = channel === undefined ? null : guildIdOf(channel);
  return Object.values(guildId === null ? {} : (state.voiceStates[guildId] ?? {})).flatMap((voice) => {
    const user = state.users[voice.user_id];
    const isKnown = guildId !== null && before?.voiceStates[guildId]?.[voice.user_id] === voice;
    if (voice.channel_id !== channelId || user === undefined || isKnown) {
      return [];
    }
    const { mute, deaf, self_mute, self_deaf, suppress } = voice;
    const nick = (guildId === null ? null : state.members[guildId]?.[user.id]?.nick) ?? user.username;
    return [
      {
        mute: false,
        nick,
        user: rpcUser(user),
        volume: 100,
        voice_state: { mute, deaf, self_mute, self_deaf, suppress },
      },
    ];
  });
}

async function authorizeApplication(
  { api }: Session,
  applicationId: string,
  screen: Screen,
  args: Arguments,
): Promise<{ code: string }> {
  const scopes: unknown = args["scope"];
  if (args["client_id"] !== applicationId) {
    throw new RpcError(ErrorCode.InvalidClientId, "Invalid client id");
  }
  if (!Array.isArray(scopes) || !scopes.every((scope) => typeof scope === "string")) {
    throw new RpcError(ErrorCode.InvalidPayload, "Invalid scopes");
  }
  const query = {
    client_id: applicationId,
    scope: scopes.join(" "),
    response_type: "code",
    ...pick(args, ["state", "code_challenge", "code_challenge_method"]),
  };
  try {
    const request = await getAuthorizationRequest(api, query);
    const allowed =
      request.authorized || (await screen.askForConsent(request.application.name, request.scopes));
    const answer = new URL(await authorize(api, query, allowed)).searchParams;
    const code = answer.get("code");
    if (code !== null) {
      return { code };
    }
    throw new RpcError(ErrorCode.OAuth2Error, `OAuth2 Error: ${answer.get("error") ?? "unknown"}`);
  } catch (error) {
    throw error instanceof RpcError ? error : new RpcError(ErrorCode.OAuth2Error, message(error));
  }
}

function setActivity({ store, gateway }: Session, applicationId: string, args: Arguments): unknown {
  const activity = args["activity"] as Record<string, unknown> | null | undefined;
  const { status, custom_status: custom } = store.state.settings;
  const name =
    Object.values(store.state.presences)
      .flatMap((presence) => presence.activities ?? [])
      .find((each) => each.application_id === applicationId)?.name ?? "Activity";
  const shown = customActivities(custom, Date.now());
  if (activity === null || activity === undefined) {
    gateway.setPresence(status, shown);
    // The SDK reads no null here: its promise would never settle.
    return { type: 0, name, application_id: applicationId };
  }
  const { name: _name, application_id: _application, ...stated } = activity;
  const result = { type: 0, ...stated, name, application_id: applicationId };
  gateway.setPresence(status, [...shown, result]);
  return result;
}

function channelOf(state: State, channelId: string): unknown {
  const channel = state.channels[channelId];
  if (channel === undefined) {
    throw new RpcError(ErrorCode.InvalidChannel, "Invalid channel");
  }
  const fields = channel as unknown as Record<string, unknown>;
  return {
    ...pick(fields, ["id", "type", "guild_id", "name", "topic", "bitrate", "user_limit", "position"]),
    voice_states: voiceStatesOf(state, channelId),
    messages: [],
  };
}

/** The voice channel that the user is in with any of their clients; null for none. */
export function selectedVoiceChannel(state: State): string | null {
  const userId = state.user?.id ?? "";
  const states = Object.values(state.voiceStates).map((ofGuild) => ofGuild[userId]);
  return states.find((voice) => voice?.channel_id != null)?.channel_id ?? null;
}

function refuseQuests(): never {
  throw new RpcError(ErrorCode.ServiceUnavailable, "There are no quests on this server");
}

function mayAttach(state: State, instance: ActivityInstance): boolean {
  return (
    instance.location.guild_id === undefined || has(ownPermissions(state, instance), Permission.AttachFiles)
  );
}

/** The command that SHARE_INTERACTION names, which the channel of the instance has. Throws RpcError. */
async function sharedCommand(
  session: Session,
  instance: ActivityInstance,
  activitiesOrigin: string,
  args: Arguments,
): Promise<SharedCommand> {
  const given = args["options"] ?? [];
  const options = Array.isArray(given)
    ? given.map((each) => (each ?? {}) as { name?: unknown; value?: unknown })
    : [];
  if (
    !Array.isArray(given) ||
    !options.every((each) => typeof each.name === "string" && typeof each.value === "string")
  ) {
    throw new RpcError(ErrorCode.InvalidPayload, "Invalid options");
  }
  const shared: SharedCommand = {
    name: requiredText(args, "command", 200),
    options: options as SharedCommand["options"],
    content: optionalText(args, "content", 2_000),
    image: previewImage(args["preview_image"], activitiesOrigin),
    buttons: previewButtons(args["components"]),
    onlyHere: args["require_launch_channel"] === true,
  };
  const channelId = instance.location.channel_id;
  if ((await findCommand(session, channelId, instance.application_id, shared)) === null) {
    throw new RpcError(ErrorCode.InvalidPayload, "Unknown command");
  }
  return shared;
}

/** An image that an Activity offers, if it is of this server or of the Activity: others are not loaded. */
function previewImage(value: unknown, origin: string): PreviewImage | null {
  if (value === undefined || value === null) {
    return null;
  }
  const { url, width, height } = value as { url?: unknown; width?: unknown; height?: unknown };
  if (typeof url !== "string" || !isSize(width) || !isSize(height) || !URL.canParse(url)) {
    throw new RpcError(ErrorCode.InvalidPayload, "Invalid preview_image");
  }
  return [location.origin, origin].includes(new URL(url).origin) ? { url, width, height } : null;
}

function isSize(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value <= MAX_EDGE;
}

/** The rows of buttons that an Activity shows in its preview: action rows of at most five buttons. */
function previewButtons(value: unknown): PreviewButton[][] {
  if (value === undefined || value === null) {
    return [];
  }
  if (!Array.isArray(value) || value.length > MAX_ROWS || !value.every(isRow)) {
    throw new RpcError(ErrorCode.InvalidPayload, "Invalid components");
  }
  return value.map(({ components = [] }) =>
    components.map(({ style, label = "" }) => ({ style, label })).filter(({ label }) => label !== ""),
  );
}

function isRow(value: unknown): value is { components?: { style: number; label?: string }[] } {
  const { type, components = [] } = (value ?? {}) as { type?: unknown; components?: unknown };
  return type === 1 && Array.isArray(components) && components.length <= 5 && components.every(isButton);
}

function isButton(value: unknown): boolean {
  const { type, style, label = "", custom_id: id = "" } = (value ?? {}) as Record<string, unknown>;
  return type === 2 && isStyle(style) && isText(label, 80) && isText(id, 100);
}

function isStyle(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= 5;
}

function isText(value: unknown, maxLength: number): boolean {
  return typeof value === "string" && value.length <= maxLength;
}

/** The path of a file of this server. Throws RpcError for any other URL. */
function ownMediaPath(text: string): string {
  const url = URL.parse(text);
  if (url?.origin !== location.origin || !url.pathname.startsWith("/attachments/")) {
    throw new RpcError(ErrorCode.InvalidPayload, "Invalid media url");
  }
  return url.pathname + url.search;
}

function requiredText(args: Arguments, name: string, maxLength: number): string {
  const value = args[name];
  if (typeof value !== "string" || value === "" || value.length > maxLength) {
    throw new RpcError(ErrorCode.InvalidPayload, `Invalid ${name}`);
  }
  return value;
}

/** An argument that may be absent; then it is empty. Throws RpcError. */
function optionalText(args: Arguments, name: string, maxLength: number): string {
  const value = args[name];
  return value === undefined || value === null || value === "" ? "" : requiredText(args, name, maxLength);
}

function ownPermissions(state: State, instance: ActivityInstance): bigint {
  const channel = state.channels[instance.location.channel_id];
  return channel === undefined ? 0n : channelPermissions(state, channel, state.user?.id ?? "");
}

/** Show what an Activity logs in the console of the browser's developer tools. */
function log(applicationId: string, { level, message: text }: Arguments): null {
  const levels = { log: "log", info: "info", warn: "warn", error: "error", debug: "debug" } as const;
  const method = levels[string(level) as keyof typeof levels] as
    (typeof levels)[keyof typeof levels] | undefined;
  console[method ?? "log"](`[activity ${applicationId}]`, string(text).slice(0, 4_000));
  return null;
}

/** The address of a page. Throws RpcError for any other. */
function webAddress(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new RpcError(ErrorCode.InvalidPayload, "Invalid url");
  }
  return url;
}

function pick(fields: Arguments, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  ) as Record<string, string>;
}

function string(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function message(error: unknown): string {
  return originalMessage(error) ?? "OAuth2 Error";
}
