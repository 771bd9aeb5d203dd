import { MessageType } from "../../api/enums";
import { useVirtualizer } from "@tanstack/react-virtual";
import type { APIMessage } from "discord-api-types/v10";
import { ArrowDown } from "lucide-react";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { FormattedDate } from "react-intl";

import { Translate, useText } from "../../i18n/translate";
import { compareIds } from "../../store/records";
import { RelationshipType } from "../../store/relationships";
import type { MessageList, PendingMessage } from "../../store/state";
import { Button } from "../../ui/controls";
import { useAppState, useSession } from "../session/session";
import { collapseBlocked, type BlockedRow } from "./blocked";
import { loadAround, loadNewer, loadNewest, loadOlder } from "./history";
import { MessageItem } from "./MessageItem";
import { PendingItem } from "./PendingItem";
import { useAcknowledge } from "./useAcknowledge";
import "./timeline.css";

/** Messages of an author within this time stand below one name. */
const GROUP_MS = 7 * 60 * 1000;
/** Pixels from an end of the list within which the next page is loaded. */
const LOAD_DISTANCE = 800;
const BOTTOM_DISTANCE = 40;

interface TimelineProps {
  channelId: string;
  guildId: string | null;
  name: string;
  /** A message to scroll to and highlight. */
  targetId: string | null;
  /** The message that is being edited. */
  editingId: string | null;
  onEdit: (messageId: string | null) => void;
  onReply: (message: APIMessage) => void;
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
  | { kind: "pending"; key: string; pending: PendingMessage; message?: undefined };

/** The messages of a channel: virtualized, loading pages at both ends, staying at the bottom while it is there. */
export function Timeline(props: TimelineProps) {
  const { channelId, guildId, name, targetId, editingId, onEdit, onReply } = props;
  const text = useText();
  const session = useSession();
  const list = useAppState((state) => state.messages[channelId]);
  const pending = useAppState((state) => state.pending);
  const [jumpId, setJumpId] = useState(targetId);
  const scroller = useRef<HTMLDivElement>(null);
  const atBottom = useRef(targetId === null);
  const [awayFromBottom, setAwayFromBottom] = useState(false);
  // The line above the first new message stays where it was when the channel was opened.
  const [readId] = useState(() => session.store.state.readStates[channelId]?.lastMessageId ?? null);
  const selfId = useAppState((state) => state.user?.id);
  const relationships = useAppState((state) => state.relationships);
  const [expanded, setExpanded] = useState<ReadonlySet<string>>(new Set());
  const rows = collapseBlocked(
    buildRows(list, pending, channelId, readId, selfId),
    (userId) => relationships[userId]?.type === RelationshipType.Blocked,
    expanded,
  );

  // The compiler cannot memoize this hook's result, which changes with each scroll.
  // eslint-disable-next-line react-hooks/incompatible-library
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (rows[index]?.kind === "message" && rows[index].compact ? 28 : 64),
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
    if (atBottom.current && element !== null) {
      element.scrollTop = element.scrollHeight;
    }
  }, [totalSize]);

  const jumpIndex = rows.findIndex((row) => row.key === jumpId);
  useEffect(() => {
    if (jumpIndex >= 0) {
      atBottom.current = false;
      virtualizer.scrollToIndex(jumpIndex, { align: "center" });
    }
    // Scrolls once for each target, when it has been loaded.
  }, [jumpIndex, jumpId, virtualizer]);

  const onScroll = useCallback(() => {
    const element = scroller.current;
    if (element === null) {
      return;
    }
    const toBottom = element.scrollHeight - element.scrollTop - element.clientHeight;
    const current = session.store.state.messages[channelId];
    atBottom.current = toBottom < BOTTOM_DISTANCE && current?.hasNewer !== true;
    setAwayFromBottom(toBottom > 2 * LOAD_DISTANCE || current?.hasNewer === true);
    if (element.scrollTop < LOAD_DISTANCE) {
      void loadOlder(session, channelId).catch(() => undefined);
    }
    if (toBottom < LOAD_DISTANCE) {
      void loadNewer(session, channelId).catch(() => undefined);
    }
  }, [session, channelId]);

  const isShown = useCallback(() => atBottom.current, []);
  useAcknowledge(channelId, isShown);

  const jump = useCallback(
    (messageId: string) => {
      setJumpId(messageId);
      void loadAround(session, channelId, messageId).catch(() => undefined);
    },
    [session, channelId],
  );

  const jumpToPresent = () => {
    setJumpId(null);
    atBottom.current = true;
    void loadNewest(session, channelId).then(() =>
      virtualizer.scrollToIndex(rows.length - 1, { align: "end" }),
    );
  };

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
        {list === undefined && <Skeleton />}
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
                  className={row.key === jumpId ? "timeline-row timeline-row-target" : "timeline-row"}
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
                    <PendingItem pending={row.pending} />
                  ) : (
                    <>
                      {row.day !== null && (
                        <div className="timeline-day" role="separator">
                          <FormattedDate value={row.day} dateStyle="full" />
                        </div>
                      )}
                      {row.isFirstNew && (
                        <div className="timeline-new" role="separator">
                          {text("message.new")}
                        </div>
                      )}
                      <MessageItem
                        message={row.message}
                        guildId={guildId}
                        compact={row.compact}
                        editing={editingId === row.message.id}
                        onEdit={onEdit}
                        onReply={onReply}
                        onJump={jump}
                      />
                    </>
                  )}
                </div>
              )
            );
          })}
        </div>
      </div>
      {awayFromBottom && (
        <div className="timeline-present">
          <Button onPress={jumpToPresent}>
            <ArrowDown size={16} aria-hidden="true" /> {text("message.jumpToPresent")}
          </Button>
        </div>
      )}
    </div>
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
  readId: string | null,
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
      isFirstNew:
        readId !== null &&
        before !== undefined &&
        message.author.id !== selfId &&
        compareIds(before.id, readId) <= 0 &&
        compareIds(message.id, readId) > 0,
    };
  });
  if (list?.hasNewer !== true) {
    for (const each of pending) {
      if (each.channelId === channelId) {
        rows.push({ kind: "pending", key: each.nonce, pending: each });
      }
    }
  }
  return rows;
}

const PLAIN_TYPES: ReadonlySet<MessageType> = new Set([MessageType.Default, MessageType.ChatInputCommand]);

function isGrouped(before: APIMessage, message: APIMessage): boolean {
  return (
    PLAIN_TYPES.has(message.type) &&
    before.author.id === message.author.id &&
    before.author.username === message.author.username &&
    before.type !== MessageType.UserJoin &&
    Date.parse(message.timestamp) - Date.parse(before.timestamp) < GROUP_MS
  );
}

function Skeleton() {
  return (
    <div className="timeline-skeleton" aria-hidden="true">
      {[62, 38, 80, 45, 70, 55].map((width, index) => (
        <div key={index} className="timeline-skeleton-row">
          <span className="skeleton" style={{ width: 40, height: 40 }} />
          <span>
            <span className="skeleton" style={{ width: 120, height: 12 }} />
            <span className="skeleton" style={{ width: `${width}%`, height: 14 }} />
          </span>
        </div>
      ))}
    </div>
  );
}
