import { useQuery } from "@tanstack/react-query";
import { LogOut, Maximize2, MessagesSquare, PanelRight, PictureInPicture2, Users } from "lucide-react";
import type { APIUser } from "discord-api-types/v10";
import { useEffect, useRef, useState } from "react";

import { createProxyTicket, getShelf, leaveActivity } from "../../api/activities";
import { avatarUrl } from "../../api/images";
import { Translate, useText, WithTexts } from "../../i18n/translate";
import { ownActivity } from "../../store/activities";
import type { ActivityInstance } from "../../store/entities";
import type { State } from "../../store/state";
import { DialogFooter } from "../../ui/DialogFooter";
import { Avatar, Button, IconButton } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { Queries } from "../session/queries";
import { useAppState, useSession, type Session } from "../session/session";
import { useErrorText } from "../session/useAction";
import {
  createCommands,
  EVENTS,
  Layout,
  participantsOf,
  rpcUser,
  selectedVoiceChannel,
  voiceStatesOf,
  type LayoutMode,
  type Screen,
  type ShareResult,
} from "./commands";
import { launchParameters } from "./launching";
import { MessageLog } from "./messageLog";
import { MessagePanel } from "./MessagePanel";
import { useActivityName } from "./useActivityName";
import { fitsBeside, WidthHandle } from "./WidthHandle";
import { RpcConnection } from "./rpc";
import { followSpeaking } from "./speaking";
import { ChooseImage, Invite, InviteUser, ShareCommand, ShareLink, ShareMedia } from "./SharingDialogs";
import type { SharedCommand } from "./sharing";
import { isConfirmed, trust } from "../links/trusted";
import "./activities.css";

const PARTS = ["activities"] as const;
/** How often the proxy gets a new ticket: one lasts for 15 minutes. */
const TICKET_MS = 600_000;
/** No popups and no navigation of this page: what the Activity is not named to be allowed, it is not. */
const SANDBOX = "allow-scripts allow-same-origin allow-forms allow-pointer-lock";
const ALLOWED = "autoplay; fullscreen; clipboard-write; gamepad; encrypted-media";

/** Shows the Activity that this client takes part in, for as long as it does. */
export default function ActivityHost() {
  const instance = useAppState(ownActivity);
  return (
    instance && (
      <Queries>
        <WithTexts parts={PARTS}>
          <Activity key={instance.instance_id} instance={instance} />
        </WithTexts>
      </Queries>
    )
  );
}

function Activity({ instance }: { instance: ActivityInstance }) {
  const text = useText();
  const { api, store } = useSession();
  const errorText = useErrorText();
  const name = useActivityName(instance.application_id);
  const [layout, setLayout] = useState<LayoutMode>(() => (fitsBeside() ? Layout.Grid : Layout.Focused));
  const isDeveloper = useAppState((state) => state.settings.developer_mode);
  const [showsMessages, setShowsMessages] = useState(false);
  const [log] = useState(() => new MessageLog());
  const section = useRef<HTMLElement>(null);
  const shelf = useQuery({
    queryKey: ["activities url"],
    queryFn: () => getShelf(api, null),
    staleTime: Infinity,
  });
  // Without a ticket the Activity runs, but its own server does not learn who the user is.
  const ticket = useQuery({
    queryKey: ["proxy ticket", instance.instance_id],
    queryFn: () =>
      createProxyTicket(api, instance.application_id, instance.location.channel_id).catch(() => null),
    staleTime: Infinity,
    gcTime: 0,
  });
  const leave = () => void leaveActivity(api, instance, store.state.sessionId ?? "").catch(() => undefined);
  const url = shelf.data?.activities_url ?? null;
  return (
    <section ref={section} className={`activity activity-${LAYOUT_NAMES[layout]}`} aria-label={name}>
      {layout === Layout.Grid && <WidthHandle section={section} />}
      <header className="activity-header">
        <h2>{name}</h2>
        <Participants instance={instance} />
        {isDeveloper && (
          <IconButton
            label={text(showsMessages ? "activities.messages.hide" : "activities.messages.show")}
            onPress={() => setShowsMessages(!showsMessages)}
          >
            <MessagesSquare size={18} />
          </IconButton>
        )}
        <IconButton label={text("activities.focused")} onPress={() => setLayout(Layout.Focused)}>
          <Maximize2 size={18} />
        </IconButton>
        <IconButton label={text("activities.grid")} onPress={() => setLayout(Layout.Grid)}>
          <PanelRight size={18} />
        </IconButton>
        <IconButton label={text("activities.pip")} onPress={() => setLayout(Layout.PictureInPicture)}>
          <PictureInPicture2 size={18} />
        </IconButton>
        <IconButton label={text("activities.leave")} onPress={leave}>
          <LogOut size={18} />
        </IconButton>
      </header>
      {shelf.isError && (
        <p role="alert" className="notice notice-danger">
          {errorText(shelf.error)}
        </p>
      )}
      {shelf.isSuccess && url === null && (
        <p role="alert" className="notice notice-danger">
          <Translate id="activities.noHost" />
        </p>
      )}
      {url !== null && ticket.data !== undefined && (
        <Frame
          instance={instance}
          name={name}
          url={url}
          ticket={ticket.data}
          layout={layout}
          log={isDeveloper ? log : null}
          onClose={leave}
        />
      )}
      {isDeveloper && showsMessages && layout !== Layout.PictureInPicture && <MessagePanel log={log} />}
    </section>
  );
}

const LAYOUT_NAMES: Record<LayoutMode, string> = { 0: "focused", 1: "pip", 2: "grid" };

function Participants({ instance }: { instance: ActivityInstance }) {
  const text = useText();
  const users = useAppState((state) => state.users);
  const { participants } = instance;
  return (
    <span className="activity-participants">
      <Users size={16} aria-hidden="true" />
      <span className="activity-count">
        {text("activities.participants", { count: participants.length })}
      </span>
      <ul aria-label={text("activities.participants", { count: participants.length })}>
        {participants.slice(0, 8).map(({ user_id: id, member }) => {
          const user = member?.user ?? users[id];
          const shown = member?.nick ?? user?.global_name ?? user?.username ?? id;
          return (
            <li key={id} title={shown}>
              <Avatar
                url={user === undefined ? null : avatarUrl(user, 32)}
                name={shown}
                size={24}
                hueKey={user?.id}
              />
              <span className="visually-hidden">{shown}</span>
            </li>
          );
        })}
      </ul>
    </span>
  );
}

/** What the Activity asks the user, one question after the other. */
type Question =
  | { kind: "consent"; name: string; scopes: readonly string[]; answer: (allowed: boolean) => void }
  | { kind: "link"; url: URL; answer: (opened: boolean) => void }
  | { kind: "invite" }
  | { kind: "shareLink"; message: string; link: string; answer: (result: ShareResult) => void }
  | { kind: "shareMedia"; path: string; answer: () => void }
  | { kind: "shareCommand"; shared: SharedCommand; answer: (used: boolean) => void }
  | { kind: "image"; answer: (url: string | null) => void }
  | { kind: "inviteUser"; user: APIUser; message: string; answer: (sent: boolean) => void };

interface FrameProps {
  instance: ActivityInstance;
  name: string;
  url: string;
  /** The proxy ticket of the page; null for none. */
  ticket: string | null;
  layout: LayoutMode;
  /** Where the messages are noted; null for nowhere. */
  log: MessageLog | null;
  onClose: () => void;
}

function Frame({ instance, name, url, ticket, layout, log, onClose }: FrameProps) {
  const text = useText();
  const session = useSession();
  const frame = useRef<HTMLIFrameElement>(null);
  const connection = useRef<RpcConnection | null>(null);
  const [frameId] = useState(() => crypto.randomUUID());
  const [first] = useState(instance);
  const [questions, setQuestions] = useState<readonly Question[]>([]);
  const [interactive, setInteractive] = useState(false);
  const [orientation, setOrientation] = useState(1);
  const [ended, setEnded] = useState<string | null>(null);
  const origin = activityOrigin(url, first.application_id);
  const onCloseRef = useRef(onClose);
  const layoutRef = useRef(layout);
  const logRef = useRef(log);
  useEffect(() => {
    onCloseRef.current = onClose;
    layoutRef.current = layout;
    logRef.current = log;
  });

  useEffect(() => {
    const ask = (question: Question) => setQuestions((before) => [...before, question]);
    const screen: Screen = {
      origin,
      askForConsent: (application, scopes) =>
        new Promise((answer) => ask({ kind: "consent", name: application, scopes, answer })),
      askForLink: (link) =>
        isConfirmed(session.account.userId, link)
          ? Promise.resolve(open(link, "_blank", "noopener,noreferrer") === null)
          : new Promise((answer) => ask({ kind: "link", url: link, answer })),
      showInvite: () => ask({ kind: "invite" }),
      shareLink: (message, link) =>
        new Promise((answer) => ask({ kind: "shareLink", message, link, answer })),
      shareMedia: (path) => new Promise((answer) => ask({ kind: "shareMedia", path, answer })),
      shareCommand: (shared) => new Promise((answer) => ask({ kind: "shareCommand", shared, answer })),
      chooseImage: () => new Promise((answer) => ask({ kind: "image", answer })),
      askForUserInvite: (user, message) =>
        new Promise((answer) => ask({ kind: "inviteUser", user, message, answer })),
      refreshTicket: () => refreshTicket(),
      setInteractive,
      setOrientation,
      onAuthenticated: (scopes) => rpc.authenticate(scopes),
    };
    const refreshTicket = async () => {
      const { application_id: applicationId, location: place } = first;
      const proxyTicket = await createProxyTicket(session.api, applicationId, place.channel_id);
      frame.current?.contentWindow?.postMessage({ proxyTicket }, origin);
      return proxyTicket;
    };
    const rpc = new RpcConnection({
      clientId: first.application_id,
      frameId,
      commands: createCommands(session, first, screen),
      events: EVENTS,
      ready: () => readyData(session.store.state),
      initial: (event) => initialData(event, session.store.state, first, layoutRef.current),
      post: (message) => {
        logRef.current?.add(message, false, Date.now());
        frame.current?.contentWindow?.postMessage(message, origin);
      },
      onClose: (code, reason) => {
        if (code === NORMAL) {
          onCloseRef.current();
        } else {
          setEnded(reason === "" ? String(code) : reason);
        }
      },
      now: () => Date.now(),
    });
    connection.current = rpc;
    const receive = (event: MessageEvent) => {
      if (event.origin === origin && event.source === frame.current?.contentWindow) {
        logRef.current?.add(event.data, true, Date.now());
        rpc.receive(event.data);
      }
    };
    addEventListener("message", receive);
    const stop = followState(session, rpc, first);
    const refreshing = setInterval(() => void refreshTicket().catch(() => undefined), TICKET_MS);
    return () => {
      clearInterval(refreshing);
      removeEventListener("message", receive);
      stop();
    };
  }, [session, first, frameId, origin]);

  useEffect(() => connection.current?.emit("ACTIVITY_LAYOUT_MODE_UPDATE", { layout_mode: layout }), [layout]);

  const closeQuestion = () => setQuestions((before) => before.slice(1));
  const question = questions[0];
  return (
    <div className="activity-frame" data-orientation={orientation}>
      {ended !== null && (
        <p role="alert" className="notice notice-danger">
          {text("activities.ended", { reason: ended })}
        </p>
      )}
      <iframe
        ref={frame}
        title={name}
        src={frameAddress(origin, first, frameId, ticket)}
        sandbox={SANDBOX}
        allow={ALLOWED}
        inert={layout === Layout.PictureInPicture && !interactive}
      />
      {question?.kind === "consent" && <Consent {...question} onClose={closeQuestion} />}
      {question?.kind === "link" && <LeavingLink {...question} onClose={closeQuestion} />}
      {question?.kind === "invite" && <Invite instance={first} onClose={closeQuestion} />}
      {question?.kind === "shareLink" && <ShareLink name={name} {...question} onClose={closeQuestion} />}
      {question?.kind === "shareMedia" && <ShareMedia name={name} {...question} onClose={closeQuestion} />}
      {question?.kind === "shareCommand" && (
        <ShareCommand name={name} instance={first} {...question} onClose={closeQuestion} />
      )}
      {question?.kind === "image" && (
        <ChooseImage name={name} instance={first} {...question} onClose={closeQuestion} />
      )}
      {question?.kind === "inviteUser" && (
        <InviteUser name={name} instance={first} {...question} onClose={closeQuestion} />
      )}
    </div>
  );
}

const NORMAL = 1000;
/** The type of a relationship that has ended. */
const NO_RELATIONSHIP = 0;

const DESCRIBED = [
  "identify",
  "identify.premium",
  "email",
  "connections",
  "guilds",
  "guilds.join",
  "guilds.members.read",
  "applications.commands",
  "relationships.read",
  "rpc.activities.write",
  "rpc.voice.read",
  "rpc.voice.write",
] as const;

/** Whether there is a text that says in words what a scope allows. */
function isDescribed(scope: string): scope is (typeof DESCRIBED)[number] {
  return DESCRIBED.some((each) => each === scope);
}

function Consent({
  name,
  scopes,
  answer,
  onClose,
}: Extract<Question, { kind: "consent" }> & { onClose: () => void }) {
  const text = useText();
  const settle = (allowed: boolean) => {
    answer(allowed);
    onClose();
  };
  return (
    <Dialog title={text("activities.consent.title", { name })} onClose={() => settle(false)}>
      <p>{text("activities.consent.about", { name })}</p>
      <ul className="activity-scopes">
        {scopes.map((scope) => (
          <li key={scope}>{isDescribed(scope) ? text(`activities.scope.${scope}`) : <code>{scope}</code>}</li>
        ))}
      </ul>
      <DialogFooter
        confirm={text("activities.consent.allow")}
        onConfirm={() => settle(true)}
        onCancel={() => settle(false)}
      />
    </Dialog>
  );
}

function LeavingLink({
  url,
  answer,
  onClose,
}: Extract<Question, { kind: "link" }> & { onClose: () => void }) {
  const text = useText();
  const { account } = useSession();
  const settle = (opens: boolean, remembers = false) => {
    if (remembers) {
      trust(account.userId, url);
    }
    if (opens) {
      open(url, "_blank", "noopener,noreferrer");
    }
    answer(opens);
    onClose();
  };
  return (
    <Dialog title={text("activities.link.title")} onClose={() => settle(false)}>
      <p>{text("activities.link.about", { host: url.host })}</p>
      <p>
        <code className="activity-link">{url.href}</code>
      </p>
      <div className="dialog-actions">
        <Button onPress={() => settle(false)}>{text("common.cancel")}</Button>
        <Button onPress={() => settle(true, true)}>
          {text("activities.link.trust", { host: url.host })}
        </Button>
        <Button kind="primary" onPress={() => settle(true)}>
          {text("activities.link.open")}
        </Button>
      </div>
    </Dialog>
  );
}

function activityOrigin(url: string, applicationId: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${applicationId}.${host}`;
}

function frameAddress(
  origin: string,
  instance: ActivityInstance,
  frameId: string,
  ticket: string | null,
): string {
  const query = new URLSearchParams({
    instance_id: instance.composite_instance_id,
    launch_id: instance.instance_id,
    location_id: instance.location.id,
    channel_id: instance.location.channel_id,
    ...(instance.location.guild_id !== undefined && { guild_id: instance.location.guild_id }),
    ...launchParameters(instance.application_id, instance.location.channel_id),
    frame_id: frameId,
    platform: "desktop",
    ...(ticket !== null && { discord_proxy_ticket: ticket }),
  });
  return `${origin}/.moothall/relay?${query.toString()}`;
}

function readyData(state: State): unknown {
  const { user } = state;
  return {
    v: 1,
    config: { cdn_host: location.host, api_endpoint: `//${location.host}/api`, environment: "production" },
    ...(user && {
      user: {
        id: user.id,
        username: user.username,
        discriminator: user.discriminator,
        ...(user.avatar && { avatar: user.avatar }),
      },
    }),
  };
}

/** What an Activity receives as soon as it subscribes to an event. */
function initialData(event: string, state: State, instance: ActivityInstance, layout: LayoutMode): unknown {
  switch (event) {
    case "ACTIVITY_LAYOUT_MODE_UPDATE":
      return { layout_mode: layout };
    case "ORIENTATION_UPDATE":
      return screenOrientation();
    case "THERMAL_STATE_UPDATE":
      return { thermal_state: 0 };
    case "CURRENT_USER_UPDATE":
      return state.user === null ? undefined : rpcUser(state.user);
    case "ACTIVITY_INSTANCE_PARTICIPANTS_UPDATE":
      return participantsOf(state, instance.instance_id);
    default:
      return undefined;
  }
}

function screenOrientation(): unknown {
  const portrait = matchMedia("(orientation: portrait)").matches;
  return { screen_orientation: portrait ? 0 : 1, orientation: portrait ? "portrait" : "landscape" };
}

/** Dispatch the changes of the state that Activities can subscribe to. Returns a function that ends it. */
function followState({ store }: Session, rpc: RpcConnection, instance: ActivityInstance): () => void {
  let before = store.state;
  const { guild_id: guildId, channel_id: channelId } = instance.location;
  const stop = store.subscribe(() => {
    const after = store.state;
    const id = instance.instance_id;
    if (after.activities[id] !== before.activities[id]) {
      rpc.emit("ACTIVITY_INSTANCE_PARTICIPANTS_UPDATE", participantsOf(after, id));
    }
    if (after.user !== before.user && after.user !== null) {
      rpc.emit("CURRENT_USER_UPDATE", rpcUser(after.user));
    }
    const userId = after.user?.id ?? "";
    const member = guildId === undefined ? undefined : after.members[guildId]?.[userId];
    if (guildId !== undefined && member !== undefined && member !== before.members[guildId]?.[userId]) {
      rpc.emit("CURRENT_GUILD_MEMBER_UPDATE", {
        user_id: userId,
        guild_id: guildId,
        nick: member.nick ?? null,
        avatar: member.avatar ?? null,
      });
    }
    if (after.voiceStates !== before.voiceStates) {
      for (const voiceState of voiceStatesOf(after, channelId, before)) {
        rpc.emit("VOICE_STATE_UPDATE", voiceState);
      }
    }
    for (const other of Object.keys({ ...before.relationships, ...after.relationships })) {
      const user = after.users[other];
      const relationship = after.relationships[other];
      if (relationship !== before.relationships[other] && user !== undefined) {
        rpc.emit("RELATIONSHIP_UPDATE", { type: relationship?.type ?? NO_RELATIONSHIP, user: rpcUser(user) });
      }
    }
    before = after;
  });
  const stopObserving = store.observe((name, data) => {
    const entitlement = data as { application_id?: string };
    if (name === "ENTITLEMENT_CREATE" && entitlement.application_id === instance.application_id) {
      rpc.emit("ENTITLEMENT_CREATE", { entitlement });
    }
  });
  const query = matchMedia("(orientation: portrait)");
  const turn = () => rpc.emit("ORIENTATION_UPDATE", screenOrientation());
  query.addEventListener("change", turn);
  const isInChannel = () => selectedVoiceChannel(store.state) === channelId;
  const stopSpeaking = followSpeaking(channelId, isInChannel, (name, data) => rpc.emit(name, data));
  return () => {
    stop();
    stopSpeaking();
    stopObserving();
    query.removeEventListener("change", turn);
  };
}
