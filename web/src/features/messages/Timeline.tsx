import { MessageType } from "../../api/enums";
import { useVirtualizer } from "@tanstack/react-virtual";
import type { APIMessage } from "discord-api-types/v10";
import { ArrowDown } from "lucide-react";
import {
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type RefObject,
  useEffectEvent,
} from "react";
import { Button as AriaButton } from "react-aria-components";
import { useIntl } from "react-intl";

import { Translate, useText } from "../../i18n/translate";
import { RelationshipType } from "../../store/relationships";
import type { MessageList, PendingMessage } from "../../store/state";
import { Guard } from "../../ui/Guard";
import { Button } from "../../ui/controls";
import { loaded } from "../../ui/loaded";
import { timeOfId } from "../../ui/times";
import { Undrawable } from "../content/Undrawable";
import { useAppState, useSession } from "../session/session";
import { collapseBlocked, type BlockedRow } from "./blocked";
import { loadAround, loadNewer, loadNewest, loadOlder } from "./history";
import { MessageItem } from "./MessageItem";
import { PendingItem } from "./PendingItem";
import { isSystemLine } from "./systemTypes";
import { TimelineSkeleton } from "./TimelineLoading";
import { newMessages } from "./unread";
import { useAcknowledge } from "./useAcknowledge";
import { useUnread } from "./useUnread";
import "./timeline.css";

const SelectBox = loaded(async () => ({ default: (await import("./Selection")).SelectBox }));
const UnreadBar = loaded(() => import("./UnreadBar"));

/** Messages of an author within this time stand below one name. */
const GROUP_MS = 7 * 60 * 1000;
/** Pixels from an end of the list within which the next page is loaded. */
const LOAD_DISTANCE = 800;
const BOTTOM_DISTANCE = 40;
/** So long the first new message is shown before the bar about it stays away. */
const SEEN_MS = 400;

interface TimelineProps {
  channelId: string;
  guildId: string | null;
  name: string;
  /** A message to scroll to and highlight. */
  targetId: string | null;
  /** Receives the function that scrolls to a message. */
  jumpRef: RefObject<((messageId: string) => void) | null>;
  /** Called when the day of a message is pressed, with its timestamp. */
  onDay: (timestamp: string) => void;
  /** The message that is being edited. */
  editingId: string | null;
  onEdit: (messageId: string | null) => void;
  onReply: (message: APIMessage) => void;
  /** The messages that are selected; null while none can be. */
  selected: ReadonlySet<string> | null;
  /** Called with a message to select, or to select no longer. Null where messages are not deleted together. */
  onSelect: ((messageId: string) => void) | null;
}

type Row =
  | {
      kind: "message";
      key: string;
      message: APIMessage;
      compact: boolean;
      /** The timestamp of the first message of a day. */
      day: string | null;
      /** Whether it is the first one that the user had not read. */
      isFirstNew: boolean;
    }
  | { kind: "pending"; key: string; pending: PendingMessage; compact: boolean; message?: undefined };

/** The messages of a channel: virtualized, loading pages at both ends, staying at the bottom while it is there. */
export default function Timeline(props: TimelineProps) {
  const {
    channelId,
    guildId,
    name,
    targetId,
    jumpRef,
    editingId,
    onDay,
    onEdit,
    onReply,
    selected,
    onSelect,
  } = props;
  const text = useText();
  const session = useSession();
  const list = useAppState((state) => state.messages[channelId]);
  const pending = useAppState((state) => state.pending);
  // A new object for each jump, also to the same message.
  const [jumpTarget, setJumpTarget] = useState(() => (targetId === null ? null : { id: targetId }));
  const scroller = useRef<HTMLDivElement>(null);
  const atBottom = useRef(targetId === null);
  /** How the list was when it scrolled last. */
  const extent = useRef({ top: 0, height: 0, room: 0 });
  const [atEnd, setAtEnd] = useState(targetId === null);
  const [awayFromBottom, setAwayFromBottom] = useState(false);
  const isShown = useCallback(() => atBottom.current, []);
  const { sinceId, markRead } = useUnread(channelId, isShown);
  const selfId = useAppState((state) => state.user?.id);
  const relationships = useAppState((state) => state.relationships);
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set());
  const fresh = useMemo(() => newMessages(list, sinceId, selfId), [list, sinceId, selfId]);
  // Scrolling renders at each frame, mostly the same rows.
  const rows = useMemo(
    () =>
      collapseBlocked(
        buildRows(list, pending, channelId, fresh.firstId, selfId),
        (userId) => relationships[userId]?.type === RelationshipType.Blocked,
        expanded,
      ),
    [list, pending, channelId, fresh.firstId, selfId, relationships, expanded],
  );

  // The compiler cannot memoize this hook's result, which changes with each scroll.
  // eslint-disable-next-line react-hooks/incompatible-library
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => {
      const row = rows[index];
      return row !== undefined && row.kind !== "blocked" && row.compact ? 28 : 64;
    },
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 8,
  });

  const unloaded = list === undefined;
  useEffect(() => {
    void (
      targetId === null ? loadNewest(session, channelId) : loadAround(session, channelId, targetId)
    ).catch(() => undefined);
    // A new session has dropped all messages: they are loaded again.
  }, [session, channelId, targetId, unloaded]);

  // Prepended rows move the shown ones down by their height.
  const firstKey = rows[0]?.key;
  const previous = useRef({ firstKey, count: rows.length });
  useLayoutEffect(() => {
    const before = previous.current;
    previous.current = { firstKey, count: rows.length };
    const element = scroller.current;
    if (element === null) {
      return;
    }
    if (atBottom.current) {
      virtualizer.scrollToIndex(rows.length - 1, { align: "end" });
    } else if (before.firstKey !== firstKey && rows.length > before.count) {
      const added = rows.findIndex((row) => row.key === before.firstKey);
      if (added > 0) {
        element.scrollTop += virtualizer.getOffsetForIndex(added, "start")?.[0] ?? 0;
      }
    }
  }, [firstKey, rows, virtualizer]);

  const totalSize = virtualizer.getTotalSize();
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) {
      return;
    }
    if (atBottom.current) {
      element.scrollTop = element.scrollHeight;
    } else {
      // Rows that get their height move what has the focus, and the button at the end covers it.
      keepFocusVisible(element);
    }
  }, [totalSize, awayFromBottom]);

  // The list stays at its end when the composer grows, a bar appears or the window changes.
  useEffect(() => {
    const element = scroller.current;
    if (element === null) {
      return undefined;
    }
    const observer = new ResizeObserver(() => {
      if (atBottom.current) {
        element.scrollTop = element.scrollHeight;
      }
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const jumpIndex = jumpTarget === null ? -1 : rows.findIndex((row) => row.key === jumpTarget.id);
  useEffect(() => {
    if (jumpIndex >= 0) {
      atBottom.current = false;
      virtualizer.scrollToIndex(jumpIndex, { align: "center" });
    }
    // Scrolls once for each target, when it has been loaded.
  }, [jumpIndex, jumpTarget, virtualizer]);

  /** Tell whether the newest messages are more than a screen below; answer how far the end of the loaded ones is, in pixels. */
  const measureBottom = useCallback(
    (element: HTMLElement) => {
      const toBottom = element.scrollHeight - element.scrollTop - element.clientHeight;
      const hasNewer = session.store.state.messages[channelId]?.hasNewer === true;
      setAwayFromBottom(toBottom > element.clientHeight || hasNewer);
      return { toBottom, hasNewer };
    },
    [session, channelId],
  );

  const onScroll = useCallback(() => {
    const element = scroller.current;
    if (element === null) {
      return;
    }
    const before = extent.current;
    extent.current = { top: element.scrollTop, height: element.scrollHeight, room: element.clientHeight };
    const isOther = before.height !== element.scrollHeight || before.room !== element.clientHeight;
    if (atBottom.current && isOther && element.scrollTop >= before.top) {
      // It is the end that has moved, not the reader: a message grew, or the list has less room.
      element.scrollTop = element.scrollHeight;
      extent.current.top = element.scrollTop;
    }
    const { toBottom, hasNewer } = measureBottom(element);
    atBottom.current = toBottom < BOTTOM_DISTANCE && !hasNewer;
    setAtEnd(atBottom.current);
    if (element.scrollTop < LOAD_DISTANCE) {
      void loadOlder(session, channelId).catch(() => undefined);
    }
    if (toBottom < LOAD_DISTANCE) {
      void loadNewer(session, channelId).catch(() => undefined);
    }
  }, [session, channelId, measureBottom]);

  // Messages that come while nothing scrolls, or where nothing can, bring no event that says what is shown.
  useEffect(() => {
    const element = scroller.current;
    if (list === undefined || element === null) {
      return;
    }
    if (element.scrollHeight <= element.clientHeight) {
      onScroll();
    } else {
      measureBottom(element);
    }
  }, [list, totalSize, onScroll, measureBottom]);

  useAcknowledge(channelId, isShown, atEnd);

  const jump = useCallback(
    (messageId: string) => {
      atBottom.current = false;
      setJumpTarget({ id: messageId });
      void loadAround(session, channelId, messageId).catch(() => undefined);
    },
    [session, channelId],
  );
  useEffect(() => {
    jumpRef.current = jump;
  }, [jumpRef, jump]);

  const firstNewIndex = fresh.firstId === null ? -1 : rows.findIndex((row) => row.key === fresh.firstId);
  const range = virtualizer.range;
  const showsFirstNew =
    firstNewIndex >= 0 &&
    range !== null &&
    range.startIndex <= firstNewIndex &&
    firstNewIndex <= range.endIndex;
  const [seenSinceId, setSeenSinceId] = useState<string | null>(null);
  useEffect(() => {
    // Not before the list has been scrolled to where it begins.
    const timer = showsFirstNew ? setTimeout(() => setSeenSinceId(sinceId), SEEN_MS) : undefined;
    return () => clearTimeout(timer);
  }, [showsFirstNew, sinceId]);
  const jumpToNew = async () => {
    if (sinceId === null) {
      return;
    }
    if (fresh.firstId === null) {
      atBottom.current = false;
      await loadAround(session, channelId, sinceId).catch(() => undefined);
    }
    const { firstId } = newMessages(session.store.state.messages[channelId], sinceId, selfId);
    if (firstId !== null) {
      setJumpTarget({ id: firstId });
      setSeenSinceId(sinceId);
    }
  };

  const jumpToPresent = async () => {
    await loadNewest(session, channelId);
    // Not before they are loaded: the end of the page shown until then is not the end of the channel.
    atBottom.current = true;
    setJumpTarget(null);
    virtualizer.scrollToIndex(virtualizer.options.count - 1, { align: "end" });
  };

  // What the user sends is seen, wherever they have scrolled to.
  const ownNonce = pending.findLast((each) => each.channelId === channelId)?.nonce;
  const sentNonce = useRef(ownNonce);
  const showSent = useEffectEvent(() => {
    jumpToPresent().catch(() => undefined);
  });
  useEffect(() => {
    const isNew = ownNonce !== undefined && ownNonce !== sentNonce.current;
    sentNonce.current = ownNonce ?? sentNonce.current;
    if (isNew && !atBottom.current) {
      showSent();
    }
  }, [ownNonce]);

  const items = virtualizer.getVirtualItems();
  return (
    <div className="timeline">
      <div
        ref={scroller}
        className="timeline-scroller"
        onScroll={onScroll}
        role="log"
        aria-label={text("message.list", { name })}
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolled with the keyboard
        tabIndex={0}
      >
        {list === undefined && <TimelineSkeleton />}
        {list !== undefined && !list.hasOlder && (
          <p className="timeline-start">
            <Translate id="message.none" values={{ name }} />
          </p>
        )}
        <div className="timeline-rows" style={{ height: totalSize }}>
          {items.map((item) => {
            const row = rows[item.index];
            return (
              row && (
                <div
                  key={item.key}
                  ref={virtualizer.measureElement}
                  data-index={item.index}
                  className={[
                    "timeline-row",
                    row.key === jumpTarget?.id && "timeline-row-target",
                    selected !== null && "timeline-row-selecting",
                  ]
                    .filter(Boolean)
                    .join(" ")}
                  style={{ transform: `translateY(${item.start}px)` }}
                >
                  {row.kind === "blocked" ? (
                    <BlockedMessages
                      row={row}
                      onToggle={() =>
                        setExpanded(
                          new Set(
                            [...expanded]
                              .filter((key) => key !== row.key)
                              .concat(row.expanded ? [] : row.key),
                          ),
                        )
                      }
                    />
                  ) : row.kind === "pending" ? (
                    <PendingItem pending={row.pending} guildId={guildId} compact={row.compact} />
                  ) : (
                    <>
                      {row.day !== null && <DayLine timestamp={row.day} onPress={onDay} />}
                      {row.isFirstNew && (
                        <div className="timeline-new" role="separator">
                          {text("message.new")}
                        </div>
                      )}
                      {selected !== null && onSelect !== null && (
                        <SelectBox
                          message={row.message}
                          guildId={guildId}
                          selected={selected}
                          onSelect={onSelect}
                        />
                      )}
                      <Guard fallback={<UndrawableMessage />}>
                        <MessageItem
                          message={row.message}
                          guildId={guildId}
                          compact={row.compact}
                          editing={editingId === row.message.id}
                          onEdit={onEdit}
                          onReply={onReply}
                          onJump={jump}
                          onSelect={onSelect}
                        />
                      </Guard>
                    </>
                  )}
                </div>
              )
            );
          })}
        </div>
      </div>
      {sinceId !== null && fresh.count > 0 && seenSinceId !== sinceId && !showsFirstNew && (
        <UnreadBar
          count={fresh.count}
          hasMore={fresh.hasMore}
          since={timeOfId(fresh.since)}
          onJump={() => void jumpToNew()}
          onMarkRead={markRead}
        />
      )}
      {awayFromBottom && (
        <div className="timeline-present">
          <Button onPress={() => void jumpToPresent().catch(() => undefined)}>
            <ArrowDown size={16} aria-hidden="true" /> {text("message.jumpToPresent")}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Says on which day the messages below were sent; leads to those of other days. */
function DayLine({ timestamp, onPress }: { timestamp: string; onPress: (timestamp: string) => void }) {
  const text = useText();
  const { formatDate } = useIntl();
  const day = formatDate(timestamp, { dateStyle: "full" });
  return (
    <div className="timeline-day">
      <AriaButton
        className="timeline-day-button"
        aria-label={text("message.day", { day })}
        onPress={() => onPress(timestamp)}
      >
        {day}
      </AriaButton>
    </div>
  );
}

function UndrawableMessage() {
  return (
    <article className="message">
      <Undrawable />
    </article>
  );
}

function BlockedMessages({ row, onToggle }: { row: BlockedRow; onToggle: () => void }) {
  const text = useText();
  return (
    <p className="timeline-blocked">
      {text("message.blocked", { count: row.count })}
      <Button kind="quiet" onPress={onToggle} aria-expanded={row.expanded}>
        {text(row.expanded ? "message.blocked.hide" : "message.blocked.show")}
      </Button>
    </p>
  );
}

function buildRows(
  list: MessageList | undefined,
  pending: readonly PendingMessage[],
  channelId: string,
  firstNewId: string | null,
  selfId: string | undefined,
): Row[] {
  const messages = list?.messages ?? [];
  const rows: Row[] = messages.map((message, index) => {
    const before = messages[index - 1];
    const day = new Date(message.timestamp).toDateString();
    const newDay = before === undefined || new Date(before.timestamp).toDateString() !== day;
    return {
      kind: "message",
      key: message.id,
      message,
      compact: !newDay && isGrouped(before, message),
      day: newDay ? message.timestamp : null,
      isFirstNew: message.id === firstNewId,
    };
  });
  if (list?.hasNewer !== true) {
    const last = messages.at(-1);
    const isOwnBefore = last !== undefined && last.author.id === selfId && !isSystemLine(last.type);
    // When the user's message before was sent, if nobody has written since.
    let before = isOwnBefore ? Date.parse(last.timestamp) : 0;
    for (const each of pending) {
      if (each.channelId === channelId) {
        const compact = each.replyTo === null && each.createdAt - before < GROUP_MS;
        rows.push({ kind: "pending", key: each.nonce, pending: each, compact });
        before = each.createdAt;
      }
    }
  }
  return rows;
}

const PLAIN_TYPES: ReadonlySet<MessageType> = new Set([MessageType.Default, MessageType.ChatInputCommand]);

function isGrouped(before: APIMessage, message: APIMessage): boolean {
  return (
    PLAIN_TYPES.has(message.type) &&
    // The answer to a command says who used it above its author.
    message.interaction_metadata === undefined &&
    before.author.id === message.author.id &&
    // A webhook may have another name and picture in each message.
    before.author.username === message.author.username &&
    before.author.avatar === message.author.avatar &&
    !isSystemLine(before.type) &&
    Date.parse(message.timestamp) - Date.parse(before.timestamp) < GROUP_MS
  );
}

/** Scroll back to the control inside a list that the keyboard has focused, where the list has moved it away. */
function keepFocusVisible(list: Element): void {
  const focused = document.activeElement;
  if (focused !== list && list.contains(focused) && focused?.matches(":focus-visible") === true) {
    focused.scrollIntoView({ block: "nearest" });
  }
}
