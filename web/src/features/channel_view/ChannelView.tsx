import { Link } from "@tanstack/react-router";
import type { APIChannel, APIMessage } from "discord-api-types/v10";
import {
  CalendarSearch,
  ChevronRight,
  Expand,
  Pin,
  Rocket,
  Rss,
  Search,
  Spool,
  Users,
  X,
} from "lucide-react";
import {
  useCallback,
  useEffect,
  useRef,
  useState,
  type DragEvent,
  type ReactNode,
  type RefObject,
} from "react";

import { FormattedDate } from "react-intl";

import { ChannelType, Permission } from "../../api/enums";
import { Translate, useText } from "../../i18n/translate";
import { visible } from "../../markdown/invisible";
import { isActivityRunning } from "../../store/activities";
import { guildIdOf, isForum, isPrivate, isThread, isVoice } from "../../store/channels";
import { has, timedOutUntil } from "../../store/permissions";
import { channelName } from "../../store/selectors";
import { isArchived, isLocked } from "../../store/threads";
import { IconButton } from "../../ui/controls";
import { loaded } from "../../ui/loaded";
import { isEditable } from "../messages/forwarding";
import { TimelineLoading } from "../messages/TimelineLoading";
import { DatePanel } from "../messages/DatePanel";
import { toggled } from "../messages/selecting";
import { useUploads } from "../attachments/uploads";
import { Typing } from "../messages/Typing";
import { focusLastMessage } from "../messages/useWalk";
import { useKeyHint } from "../keybinds/Keys";
import { useAppState, useSession } from "../session/session";
import { useChannelPermissions } from "../session/usePermissions";
import { togglePanel, type Panel } from "../overlays/panels";
import { ChannelIcon } from "../channels/ChannelIcon";
import { useChannelSigns } from "../channels/useChannelSigns";
import { hasPassedAgeGate, isAgeRestricted } from "./ageGate";
import "../composer/composer.css";

const AgeGate = loaded(() => import("./AgeGate"));
const Content = loaded(async () => ({ default: (await import("../content/Content")).Content }));
const Composer = loaded(async () => ({ default: (await import("../composer/Composer")).Composer }));
const SelectionBar = loaded(async () => ({ default: (await import("../messages/Selection")).SelectionBar }));
const RunningActivities = loaded(() => import("../activities/RunningActivities"));
const FollowDialog = loaded(() => import("./FollowDialog"));
const ForumView = loaded(() => import("../forums/ForumView"));
const ThreadMenu = loaded(() => import("../threads/ThreadMenu"));
const Timeline = loaded(() => import("../messages/Timeline"));
const CallButton = loaded(() => import("../calls/CallButton"));
const VoicePanel = loaded(() => import("../voice/VoicePanel"));

interface ChannelViewProps {
  channel: APIChannel;
  targetId: string | null;
  /** Whether a thread is open beside it. */
  hasThread?: boolean;
  /** Null where there is no member list. */
  onToggleMembers: (() => void) | null;
  /** Further controls of the header. */
  actions?: ReactNode;
  /** For a thread beside its channel. */
  beside?: { onClose: () => void; onExpand: () => void };
}

const HAS_THREADS: ReadonlySet<ChannelType> = new Set([ChannelType.GuildText, ChannelType.GuildAnnouncement]);

const MAX_TIMER_MS = 2 ** 31 - 1;

/** Load the code of what shows messages. */
export const preloadTimeline = (): void => Timeline.preload();

/** A channel with its messages, or a forum with its posts. */
export function ChannelView(props: ChannelViewProps) {
  const { channel, targetId, hasThread = false, onToggleMembers, actions, beside } = props;
  const text = useText();
  const name = useAppState((state) => channelName(state, channel));
  const topic = "topic" in channel ? channel.topic : null;
  const [isFollowOpen, setFollowOpen] = useState(false);
  const jumpRef = useRef<((messageId: string) => void) | null>(null);
  const toggle = (panel: Panel) => togglePanel(panel, hasThread || beside !== undefined);
  const guildId = guildIdOf(channel);
  const permissions = useChannelPermissions(channel);
  const mayLaunch = guildId === null || has(permissions, Permission.UseEmbeddedActivities);
  const hasActivity = useAppState((state) => isActivityRunning(state, channel.id));
  const signs = useChannelSigns(channel);
  const searchKeys = useKeyHint("search");
  const Title = beside === undefined ? "h1" : "h2";
  return (
    <>
      <header className="channel-header">
        {isThread(channel) && beside === undefined && <ParentLink threadId={channel.id} />}
        <ChannelIcon type={channel.type} signs={signs} />
        <Title className="channel-title" dir="auto">
          {name}
        </Title>
        {topic && !isForum(channel) && (
          <div className="channel-topic" dir="auto">
            <Content fallback={visible(topic)} content={topic} guildId={guildId} />
          </div>
        )}
        <span className="channel-header-actions">
          {isPrivate(channel) && <CallButton channelId={channel.id} />}
          {HAS_THREADS.has(channel.type) && (
            <IconButton label={text("thread.browse")} onPress={() => toggle({ kind: "threads" })}>
              <Spool size={18} />
            </IconButton>
          )}
          {channel.type === ChannelType.GuildAnnouncement && (
            <IconButton label={text("channel.follow")} onPress={() => setFollowOpen(true)}>
              <Rss size={18} />
            </IconButton>
          )}
          {!isForum(channel) && beside === undefined && (
            <span className="channel-header-wide">
              <DateButton channelId={channel.id} jumpRef={jumpRef} />
            </span>
          )}
          {!isForum(channel) && (
            <IconButton
              label={text("channel.pins")}
              onPress={() => toggle({ kind: "pins", threadId: beside === undefined ? null : channel.id })}
            >
              <Pin size={18} />
            </IconButton>
          )}
          {!isForum(channel) && mayLaunch && (
            <IconButton
              label={text("channel.activities")}
              onPress={() =>
                toggle({ kind: "activities", threadId: beside === undefined ? null : channel.id })
              }
            >
              <Rocket size={18} />
            </IconButton>
          )}
          {isThread(channel) && <ThreadActions threadId={channel.id} />}
          {beside === undefined && (
            <IconButton
              label={text("search.title")}
              keys={searchKeys}
              onPress={() => toggle({ kind: "search" })}
            >
              <Search size={18} />
            </IconButton>
          )}
          {onToggleMembers !== null && (
            <IconButton label={text("member.list")} onPress={onToggleMembers}>
              <Users size={18} />
            </IconButton>
          )}
          {actions}
          {beside !== undefined && (
            <>
              <IconButton label={text("thread.full")} onPress={beside.onExpand}>
                <Expand size={18} />
              </IconButton>
              <IconButton label={text("thread.close")} onPress={beside.onClose}>
                <X size={18} />
              </IconButton>
            </>
          )}
        </span>
      </header>
      {hasActivity && <RunningActivities channelId={channel.id} mayJoin={mayLaunch} />}
      <ChannelContent
        key={guildId ?? ""}
        channel={channel}
        name={name}
        targetId={targetId}
        guildId={guildId}
        jumpRef={jumpRef}
      />
      {isFollowOpen && <FollowDialog channel={channel} onClose={() => setFollowOpen(false)} />}
    </>
  );
}

interface DateButtonProps {
  channelId: string;
  jumpRef: RefObject<((messageId: string) => void) | null>;
}

/** Opens a small dialog that leads to the messages of a day. */
function DateButton({ channelId, jumpRef }: DateButtonProps) {
  const text = useText();
  const [now] = useState(() => Date.now());
  return (
    <DatePanel channelId={channelId} time={now} onJump={(messageId) => jumpRef.current?.(messageId)}>
      <IconButton label={text("channel.jumpToDate")}>
        <CalendarSearch size={18} />
      </IconButton>
    </DatePanel>
  );
}

/** From a thread to its channel. */
function ParentLink({ threadId }: { threadId: string }) {
  const thread = useAppState((state) => state.channels[threadId]);
  const parent = useAppState((state) =>
    thread !== undefined && isThread(thread) ? state.channels[thread.parent_id ?? ""] : undefined,
  );
  const guildId = thread === undefined ? null : guildIdOf(thread);
  return guildId === null || parent === undefined || !("name" in parent) ? null : (
    <>
      <Link
        className="channel-parent"
        to="/channels/$guildId/$channelId"
        params={{ guildId, channelId: parent.id }}
      >
        <ChannelIcon type={parent.type} />
        <bdi>{parent.name}</bdi>
      </Link>
      <ChevronRight size={14} aria-hidden="true" className="channel-icon" />
    </>
  );
}

function ThreadActions({ threadId }: { threadId: string }) {
  const thread = useAppState((state) => state.channels[threadId]);
  const inForum = useAppState((state) => {
    const parent =
      thread !== undefined && isThread(thread) ? state.channels[thread.parent_id ?? ""] : undefined;
    return parent !== undefined && isForum(parent);
  });
  return thread === undefined || !isThread(thread) ? null : <ThreadMenu thread={thread} inForum={inForum} />;
}

interface ConversationProps {
  channel: APIChannel;
  name: string;
  targetId: string | null;
  /** Receives the function that scrolls to a message. */
  jumpRef: RefObject<((messageId: string) => void) | null>;
}

function ChannelContent({ guildId, ...props }: ConversationProps & { guildId: string | null }) {
  const { channel } = props;
  const hasCall = useAppState((state) => state.calls[channel.id] !== undefined);
  const [passed, setPassed] = useState(() => hasPassedAgeGate(guildId));
  const isRestricted = useAppState((state) => isAgeRestricted(state, channel)) && !passed;
  if (isRestricted) {
    return <AgeGate guildId={guildId} onPass={() => setPassed(true)} />;
  }
  if (isForum(channel)) {
    return <ForumView key={channel.id} channel={channel} />;
  }
  if (channel.type === ChannelType.GuildCategory) {
    return (
      <p className="channel-empty">
        <Translate id="channel.unsupported" />
      </p>
    );
  }
  return (
    <>
      {((isVoice(channel) && guildId !== null) || hasCall) && (
        <VoicePanel key={`voice ${channel.id}`} channel={channel} guildId={guildId ?? channel.id} />
      )}
      <Conversation key={channel.id} {...props} />
    </>
  );
}

function Conversation({ channel, name, targetId, jumpRef }: ConversationProps) {
  const text = useText();
  const session = useSession();
  const [replyTo, setReplyTo] = useState<APIMessage | null>(null);
  const [editingId, setEditingId] = useState<string | null>(null);
  const [selected, setSelected] = useState<ReadonlySet<string> | null>(null);
  const select = useCallback(
    (messageId: string) => setSelected((before) => toggled(before ?? new Set(), messageId)),
    [],
  );
  const endSelection = useCallback(() => setSelected(null), []);
  const uploads = useUploads();
  const conversation = useRef<HTMLDivElement>(null);
  const [dropping, setDropping] = useState(false);
  const guildId = guildIdOf(channel);
  const permissions = useChannelPermissions(channel);
  const timedOut = useTimeout(guildId);
  const locked = isThread(channel) && isLocked(channel) && !has(permissions, Permission.ManageThreads);
  const sends = isThread(channel) ? Permission.SendMessagesInThreads : Permission.SendMessages;
  const maySend = has(permissions, sends) && !locked;
  const mayAttach = maySend && has(permissions, Permission.AttachFiles);
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setDropping(false);
    if (mayAttach) {
      uploads.add(event.dataTransfer.files);
    }
  };
  const onDragOver = (event: DragEvent) => {
    event.preventDefault();
    setDropping(mayAttach && event.dataTransfer.types.includes("Files"));
  };
  const onDragLeave = (event: DragEvent) => {
    if (!event.currentTarget.contains(event.relatedTarget as Element | null)) {
      setDropping(false);
    }
  };
  const editLast = () => {
    const own = session.store.state.messages[channel.id]?.messages.findLast(
      (message) => message.author.id === session.store.state.user?.id && isEditable(message),
    );
    setEditingId(own?.id ?? null);
    if (own === undefined && conversation.current !== null) {
      focusLastMessage(conversation.current);
    }
  };
  const shownName =
    guildId === null ? name : isThread(channel) ? text("thread.quoted", { name }) : `#${name}`;
  return (
    // Dropping is another way to attach files: the button next to the text does it for everyone.
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      ref={conversation}
      className={dropping ? "conversation conversation-dropping" : "conversation"}
      data-drop-label={text("upload.drop")}
      onDragOver={onDragOver}
      onDragLeave={onDragLeave}
      onDrop={onDrop}
    >
      <Timeline
        fallback={<TimelineLoading channelId={channel.id} name={shownName} targetId={targetId} />}
        channelId={channel.id}
        guildId={guildId}
        name={shownName}
        targetId={targetId}
        jumpRef={jumpRef}
        editingId={editingId}
        onEdit={setEditingId}
        onReply={setReplyTo}
        selected={selected}
        onSelect={guildId === null ? null : select}
      />
      {selected !== null && (
        <SelectionBar channelId={channel.id} selected={selected} onClose={endSelection} />
      )}
      {isThread(channel) && isArchived(channel) && (
        <p className="notice conversation-notice">
          <Translate id={locked ? "thread.notice.locked" : "thread.notice.archived"} />
        </p>
      )}
      {maySend ? (
        <Composer
          fallback={<div className="composer composer-loading" />}
          channel={channel}
          guildId={guildId}
          name={shownName}
          replyTo={replyTo}
          onCancelReply={() => setReplyTo(null)}
          uploads={uploads}
          onEditLast={editLast}
        />
      ) : timedOut !== null ? (
        <p className="notice conversation-notice">
          <Translate
            id="composer.timedOut"
            values={{ date: <FormattedDate value={timedOut} dateStyle="medium" timeStyle="short" /> }}
          />
        </p>
      ) : (
        !locked && (
          <p className="notice conversation-notice">
            <Translate id="composer.noPermission" />
          </p>
        )
      )}
      <Typing channelId={channel.id} guildId={guildId} />
    </div>
  );
}

/** Until when the user is timed out in a guild, in milliseconds since the epoch; null if they are not. */
function useTimeout(guildId: string | null): number | null {
  const [now, setNow] = useState(() => Date.now());
  const until = useAppState((state) =>
    guildId === null ? null : timedOutUntil(state, guildId, state.user?.id ?? "", now),
  );
  useEffect(() => {
    // Longer ones than timers can wait for end with the next view of the channel.
    const left = until === null ? MAX_TIMER_MS : until - Date.now();
    const timer = left < MAX_TIMER_MS ? setTimeout(() => setNow(Date.now()), left) : undefined;
    return () => clearTimeout(timer);
  }, [until]);
  return until;
}
