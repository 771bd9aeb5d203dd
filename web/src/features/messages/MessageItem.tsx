import { MessageFlag, MessageType } from "../../api/enums";
import { activityLinks } from "../activities/launching";
import type { APIMessage, APIUser } from "discord-api-types/v10";
import { Reply } from "lucide-react";
import { memo, useMemo, useState, type MouseEvent, type ReactNode } from "react";
import { Button as AriaButton } from "react-aria-components";
import { FormattedDate, FormattedTime, useIntl } from "react-intl";

import { Translate, useText } from "../../i18n/translate";
import { plainText } from "../../markdown/plain";
import { removeMessages } from "../../store/messages";
import { mentionsUser } from "../../store/settings";
import { displayName, nameColor } from "../../store/selectors";
import { roleColor } from "../../ui/colors";
import type { Point } from "../../ui/Menu";
import { loaded } from "../../ui/loaded";
import { FULL_TIME } from "../../ui/times";
import { eventLinks } from "../events/links";
import { MemberAvatar } from "../users/MemberAvatar";
import { UserTrigger } from "../users/UserTrigger";
import { useAppState, useSession } from "../session/session";
import { Attachments } from "../attachments/Attachments";
import { Content } from "../content/Content";
import { Guarded } from "../content/Undrawable";
import { Embeds } from "../content/Embeds";
import { StarterMessage } from "../threads/StarterMessage";
import { ThreadLink } from "../threads/ThreadLink";
import { Reactions } from "./Reactions";
import { SystemIcon } from "./SystemIcon";
import { SystemMessage } from "./SystemMessage";
import { isSystemLine, isWrittenText } from "./systemTypes";
import { useTouch } from "./useTouch";

const MessageEditor = loaded(async () => ({ default: (await import("./MessageEditor")).MessageEditor }));
const Components = loaded(async () => ({ default: (await import("../components/Components")).Components }));
const Forwarded = loaded(() => import("./Forwarded"));
const LinkCards = loaded(() => import("../activities/LinkCard"));
const LinkedEvents = loaded(() => import("../events/LinkedEvents"));
const MessageActions = loaded(() => import("./MessageActions"));
const Poll = loaded(() => import("../polls/Poll"));

interface MessageItemProps {
  message: APIMessage;
  guildId: string | null;
  /** Whether it follows another message of its author within minutes: without avatar and name. */
  compact: boolean;
  editing: boolean;
  onEdit: (messageId: string | null) => void;
  onReply: (message: APIMessage) => void;
  onJump: (messageId: string) => void;
  /** Begins the selection of messages with this one; null where messages are not deleted together. */
  onSelect: ((messageId: string) => void) | null;
}

export const MessageItem = memo(function MessageItem(props: MessageItemProps) {
  const { message, guildId, compact, editing, onEdit, onJump } = props;
  const name = useAppState((state) => authorName(message, displayName(state, message.author, guildId)));
  const color = useAppState((state) => nameColor(state, message.author.id, guildId));
  const mentionsMe = useAppState((state) => mentionsUser(state, message, guildId));
  const { formatDate } = useIntl();
  const system = !isWrittenText(message.type);
  const isLine = isSystemLine(message.type);
  const [menuAt, setMenuAt] = useState<Point | null>(null);
  // The actions of a message are many controls: they are drawn once the message is pointed at or has the focus.
  const [active, setActive] = useState<"pointer" | "keyboard" | null>(null);
  const openMenu = (event: MouseEvent) => {
    if (!editing && !hasOwnMenu(event.target as Element)) {
      event.preventDefault();
      setActive((before) => before ?? "pointer");
      setMenuAt({ left: event.clientX, top: event.clientY });
    }
  };
  const touch = useTouch(
    (at) => {
      if (!editing) {
        setActive((before) => before ?? "pointer");
        setMenuAt(at);
      }
    },
    () => props.onReply(message),
  );
  const edited = message.edited_timestamp !== null && (
    <span className="message-edited" title={formatDate(message.edited_timestamp, FULL_TIME)}>
      <Translate id="message.edited" />
    </span>
  );
  return (
    // The menu's button among the actions opens the same for everyone.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <article
      // A touch gives it the focus, which shows its actions.
      tabIndex={-1}
      onContextMenu={openMenu}
      {...touch}
      onPointerEnter={() => setActive((before) => before ?? "pointer")}
      onFocus={() => setActive((before) => before ?? "pointer")}
      className={[
        "message",
        compact && "message-compact",
        mentionsMe && "message-mention",
        isLine && "message-line",
      ]
        .filter(Boolean)
        .join(" ")}
      aria-labelledby={`author-${message.id}`}
    >
      {message.type === MessageType.Reply && (
        <ReplyLine message={message} guildId={guildId} onJump={onJump} />
      )}
      {message.interaction_metadata !== undefined && "name" in message.interaction_metadata && (
        <CommandLine metadata={message.interaction_metadata as UsedCommandMetadata} guildId={guildId} />
      )}
      <div className="message-gutter">
        {isLine ? (
          <SystemIcon type={message.type} />
        ) : compact ? (
          <time className="message-hover-time" dateTime={message.timestamp}>
            <FormattedTime value={message.timestamp} timeStyle="short" />
          </time>
        ) : (
          <AuthorTrigger
            message={message}
            guildId={guildId}
            className="user-avatar-button"
            excludeFromTabOrder
          >
            <MemberAvatar user={message.author} guildId={guildId} name={name} size={40} />
          </AuthorTrigger>
        )}
      </div>
      <div className="message-body">
        <div className={compact ? "visually-hidden" : "message-header"}>
          <strong id={`author-${message.id}`} style={roleColor(color)} className="message-author">
            {compact ? (
              <bdi>{name}</bdi>
            ) : (
              <AuthorTrigger message={message} guildId={guildId} className="user-name-button">
                <bdi>{name}</bdi>
              </AuthorTrigger>
            )}
          </strong>
          {message.author.bot && (
            <span className="tag">
              <Translate id={isWebhook(message) ? "message.tag.webhook" : "message.tag.app"} />
            </span>
          )}
          <MessageTime timestamp={message.timestamp} />
        </div>
        {system ? (
          <SystemMessage message={message} guildId={guildId} onJump={onJump} />
        ) : message.type === MessageType.ThreadStarterMessage ? (
          <StarterMessage message={message} guildId={guildId} />
        ) : editing ? (
          <MessageEditor message={message} onClose={() => onEdit(null)} />
        ) : (
          <>
            {hasFlag(message, MessageFlag.Loading) && (
              <p className="message-thinking" role="status">
                <Translate id="message.thinking" values={{ name }} />
              </p>
            )}
            {message.content !== "" ? (
              <Content content={message.content} guildId={guildId} end={edited} />
            ) : (
              edited
            )}
            {hasFlag(message, MessageFlag.Crossposted) && (
              <p className="message-edited">
                <Translate id="message.published" />
              </p>
            )}
            {message.message_snapshots?.map((snapshot, index) => (
              <Guarded key={index}>
                <Forwarded message={message} snapshot={snapshot} />
              </Guarded>
            ))}
            <Guarded>
              <Attachments attachments={message.attachments} stickers={message.sticker_items} />
            </Guarded>
            <Embeds embeds={message.embeds} guildId={guildId} content={message.content} />
            <EventLinks content={message.content} />
            <ActivityLinks message={message} />
            <Guarded>
              {message.poll && <Poll message={message} poll={message.poll} guildId={guildId} />}
            </Guarded>
            <Guarded>
              {message.components?.length ? <Components message={message} guildId={guildId} /> : null}
            </Guarded>
          </>
        )}
        <Reactions message={message} guildId={guildId} />
        <ThreadLink message={message} guildId={guildId} />
        {hasFlag(message, MessageFlag.Ephemeral) && <EphemeralNote message={message} />}
      </div>
      {/* The document's own, as every message has it: it is replaced as soon as it has the focus. */}
      {!editing && active === null && (
        <button type="button" className="message-actions-idle" onFocus={() => setActive("keyboard")}>
          <Translate id="message.actions" />
        </button>
      )}
      {!editing && active !== null && (
        <MessageActions
          takesFocus={active === "keyboard"}
          message={message}
          onEdit={onEdit}
          onReply={props.onReply}
          onSelect={props.onSelect}
          menuAt={menuAt}
          onMenuClose={() => setMenuAt(null)}
        />
      )}
    </article>
  );
});

/** Whether the browser's menu is of more use: for links, media, and text that is selected. */
function hasOwnMenu(target: Element): boolean {
  const selection = getSelection();
  return (
    target.closest("a, img, video, audio, input, textarea, .attachment-image") !== null ||
    (selection !== null && !selection.isCollapsed && selection.containsNode(target, true))
  );
}

/** The cards of the events that a text links to. */
function EventLinks({ content }: { content: string }) {
  const links = useMemo(() => eventLinks(content, location.origin), [content]);
  return links.length === 0 ? null : <LinkedEvents links={links} />;
}

/** What the quick links of Activities in a message show. */
function ActivityLinks({ message }: { message: APIMessage }) {
  const { content } = message;
  const links = useMemo(
    () => activityLinks(content, location.origin).filter(({ linkId }) => linkId !== ""),
    [content],
  );
  return links.length === 0 ? null : (
    <LinkCards links={links.slice(0, 5)} channelId={message.channel_id} authorId={message.author.id} />
  );
}

interface AuthorTriggerProps {
  message: APIMessage;
  guildId: string | null;
  className: string;
  excludeFromTabOrder?: boolean;
  children: ReactNode;
}

/** Opens the card of a message's author; webhooks have none. */
function AuthorTrigger({ message, children, ...props }: AuthorTriggerProps) {
  const text = useText();
  const label = props.excludeFromTabOrder ? { label: text("user.card") } : {};
  return isWebhook(message) ? (
    children
  ) : (
    <UserTrigger userId={message.author.id} {...label} {...props}>
      {children}
    </UserTrigger>
  );
}

/** Whether a webhook wrote a message; the responses of an application name it as their webhook. */
function isWebhook(message: APIMessage): boolean {
  return message.webhook_id !== undefined && message.webhook_id !== message.application_id;
}

function hasFlag(message: APIMessage, flag: number): boolean {
  return ((message.flags ?? 0) & flag) !== 0;
}

interface UsedCommandMetadata {
  name: string;
  user: APIUser;
  /** That of a slash command is 1. */
  command_type?: number;
}

/** Who has used the command that a message responds to. */
function CommandLine({ metadata, guildId }: { metadata: UsedCommandMetadata; guildId: string | null }) {
  const user = useAppState((state) => displayName(state, metadata.user, guildId));
  const isSlash = (metadata.command_type ?? 1) === 1;
  return (
    <p className="message-reply message-command">
      <MemberAvatar user={metadata.user} guildId={guildId} name={user} size={16} />
      <span>
        <Translate
          id="message.command"
          values={{
            user,
            command: isSlash ? `/${metadata.name}` : metadata.name,
            b: (chunks) => <strong key="command">{chunks}</strong>,
          }}
        />
      </span>
    </p>
  );
}

/** Says that only the user sees a message, and lets them remove it. */
function EphemeralNote({ message }: { message: APIMessage }) {
  const text = useText();
  const { store } = useSession();
  const dismiss = () => store.update((state) => removeMessages(state, message.channel_id, [message.id]));
  return (
    <p className="message-edited">
      <Translate id="message.ephemeral" />{" "}
      <AriaButton className="link-button" onPress={dismiss}>
        {text("message.dismiss")}
      </AriaButton>
    </p>
  );
}

function MessageTime({ timestamp }: { timestamp: string }) {
  const { formatDate } = useIntl();
  const date = new Date(timestamp);
  const today = new Date().toDateString() === date.toDateString();
  return (
    <time className="message-time" dateTime={timestamp} title={formatDate(date, FULL_TIME)}>
      {today ? (
        <FormattedTime value={date} timeStyle="short" />
      ) : (
        <FormattedDate value={date} dateStyle="short" timeStyle="short" />
      )}
    </time>
  );
}

function ReplyLine({
  message,
  guildId,
  onJump,
}: {
  message: APIMessage;
  guildId: string | null;
  onJump: (messageId: string) => void;
}) {
  const original = message.referenced_message;
  const name = useAppState((state) =>
    original ? authorName(original, displayName(state, original.author, guildId)) : "",
  );
  if (!original) {
    return (
      <p className="message-reply">
        <Reply size={14} aria-hidden="true" /> <Translate id="message.deleted.reply" />
      </p>
    );
  }
  return (
    <AriaButton className="message-reply" onPress={() => onJump(original.id)}>
      <Reply size={14} aria-hidden="true" />
      <strong dir="auto">{name}</strong>
      <span className="message-reply-text" dir="auto">
        {plainText(original.content, 200) || "…"}
      </span>
    </AriaButton>
  );
}

/** Webhooks choose a name for each message. */
function authorName(message: APIMessage, memberName: string): string {
  return message.webhook_id === undefined ? memberName : message.author.username;
}
