import { useVirtualizer } from "@tanstack/react-virtual";
import type { APIMessage } from "discord-api-types/v10";
import { ArrowDown } from "lucide-react";
import { useCallback, useEffect, useEffectEvent, useMemo, useRef, type RefObject } from "react";

import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { loaded } from "../../ui/loaded";
import { timeOfId } from "../../ui/times";
import { useAppState, useSession } from "../session/session";
import { loadAround, loadNewest } from "./history";
import { growsUpwards, type RowVirtualizer } from "./place";
import { estimateHeight, type Row } from "./rows";
import { TimelineSkeleton } from "./TimelineLoading";
import { TimelineRow } from "./TimelineRow";
import { newMessages } from "./unread";
import { useAcknowledge } from "./useAcknowledge";
import { useEnd } from "./useEnd";
import { useHistory } from "./useHistory";
import { useJump } from "./useJump";
import { useRows } from "./useRows";
import { useSeen } from "./useSeen";
import { useShowSent } from "./useShowSent";
import { useUnread } from "./useUnread";
import { useWalk } from "./useWalk";
import "./timeline.css";

const UnreadBar = loaded(() => import("./UnreadBar"));

/** Pixels below the last message. */
const PADDING = 12;

interface TimelineProps {
  channelId: string;
  guildId: string | null;
  name: string;
  /** A message to scroll to and highlight. */
  targetId: string | null;
  /** Receives the function that scrolls to a message. */
  jumpRef: RefObject<((messageId: string) => void) | null>;
  /** The message that is being edited. */
  editingId: string | null;
  onEdit: (messageId: string | null) => void;
  onReply: (message: APIMessage) => void;
  /** The messages that are selected; null while none can be. */
  selected: ReadonlySet<string> | null;
  /** Called with a message to select, or to select no longer. Null where messages are not deleted together. */
  onSelect: ((messageId: string) => void) | null;
}

/**
 * The messages of a channel: virtualized, loading pages at both ends. At its end it stays there (`useEnd`), elsewhere
 * what is read stays where it is (`place.ts`).
 */
export default function Timeline(props: TimelineProps) {
  const { channelId, guildId, name, targetId, jumpRef, editingId, selected, onSelect } = props;
  const text = useText();
  const session = useSession();
  const scroller = useRef<HTMLDivElement>(null);
  const list = useAppState((state) => state.messages[channelId]);
  const selfId = useAppState((state) => state.user?.id);
  const hasNewer = list?.hasNewer === true;

  const shownRef = useRef(targetId === null);
  const isShown = useCallback(() => shownRef.current, []);
  const { sinceId, markRead } = useUnread(channelId, isShown);
  const fresh = useMemo(() => newMessages(list, sinceId, selfId), [list, sinceId, selfId]);
  const [rows, toggleBlocked] = useRows(channelId, fresh.firstId);

  // The compiler cannot memoize this hook's result, which changes with each scroll.
  // eslint-disable-next-line react-hooks/incompatible-library
  const virtualizer = useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => estimateHeight(rows[index]),
    getItemKey: (index) => rows[index]?.key ?? index,
    overscan: 8,
    paddingEnd: PADDING,
    // Rows that are added above leave what is read where it is.
    anchorTo: "end",
    followOnAppend: !hasNewer,
  });
  useEffect(() => {
    virtualizer.shouldAdjustScrollPositionOnItemSizeChange = (item, _delta, instance) =>
      growsUpwards(item.index, instance);
  }, [virtualizer]);

  const loadNear = useHistory(channelId, targetId, list !== undefined, scroller);
  const end = useEnd(scroller, shownRef, rows, hasNewer, targetId === null);
  const { jump, clear, ...jumped } = useJump(channelId, targetId, rows, scroller, virtualizer, end.leave);
  useEffect(() => {
    jumpRef.current = jump;
  }, [jumpRef, jump]);
  const onScroll = () => {
    end.onScroll();
    loadNear();
  };
  // Where nothing scrolls, no event says that the next page is near.
  const totalSize = virtualizer.getTotalSize();
  useEffect(loadNear, [loadNear, list, totalSize]);

  const showEnd = async () => {
    // Not before they are loaded: the end of the page shown until then is not the end of the channel.
    await loadNewest(session, channelId);
    clear();
    end.follow();
  };
  const goToEnd = () => void showEnd().catch(() => undefined);
  useShowSent(channelId, goToEnd);
  useNoTarget(targetId, goToEnd);
  useShowEdited(editingId, rows, virtualizer);
  useWalk(scroller);

  useAcknowledge(channelId, isShown, end.atEnd);
  const firstNewIndex = fresh.firstId === null ? -1 : rows.findIndex((row) => row.key === fresh.firstId);
  const { range } = virtualizer;
  const showsFirstNew =
    firstNewIndex >= 0 &&
    range !== null &&
    range.startIndex <= firstNewIndex &&
    firstNewIndex <= range.endIndex;
  const [isSeen, see] = useSeen(sinceId, showsFirstNew);
  const jumpToNew = async () => {
    if (sinceId === null) {
      return;
    }
    if (fresh.firstId === null) {
      end.leave();
      await loadAround(session, channelId, sinceId).catch(() => undefined);
    }
    const { firstId } = newMessages(session.store.state.messages[channelId], sinceId, selfId);
    if (firstId !== null) {
      jump(firstId);
      see();
    }
  };

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
        <div className="timeline-rows" style={{ height: totalSize }}>
          {virtualizer.getVirtualItems().map((item) => {
            const row = rows[item.index];
            return (
              row && (
                <div
                  key={item.key}
                  ref={virtualizer.measureElement}
                  data-index={item.index}
                  className={[
                    "timeline-row",
                    row.key === jumped.targetId && "timeline-row-target",
                    selected !== null && "timeline-row-selecting",
                  ]
                    .filter(Boolean)
                    .join(" ")}
                  style={{ transform: `translateY(${item.start}px)` }}
                >
                  <TimelineRow
                    row={row}
                    channelId={channelId}
                    guildId={guildId}
                    name={name}
                    editing={editingId === row.key}
                    selected={selected}
                    onSelect={onSelect}
                    onEdit={props.onEdit}
                    onReply={props.onReply}
                    onJump={jump}
                    onToggleBlocked={toggleBlocked}
                  />
                </div>
              )
            );
          })}
        </div>
      </div>
      {sinceId !== null && fresh.count > 0 && !isSeen && !showsFirstNew && (
        <UnreadBar
          count={fresh.count}
          hasMore={fresh.hasMore}
          since={timeOfId(fresh.since)}
          onJump={() => void jumpToNew()}
          onMarkRead={markRead}
        />
      )}
      {end.isFar && (
        <div className="timeline-present">
          <Button onPress={goToEnd}>
            <ArrowDown size={16} aria-hidden="true" /> {text("message.jumpToPresent")}
          </Button>
        </div>
      )}
    </div>
  );
}

/** Show the end once the address names no message any longer. */
function useNoTarget(targetId: string | null, showEnd: () => void): void {
  const before = useRef(targetId);
  const onNone = useEffectEvent(showEnd);
  useEffect(() => {
    if (before.current !== null && targetId === null) {
      onNone();
    }
    before.current = targetId;
  }, [targetId]);
}

/** Bring the message that is to be edited into view. */
function useShowEdited(editingId: string | null, rows: readonly Row[], virtualizer: RowVirtualizer): void {
  const show = useEffectEvent(() => {
    const index = rows.findIndex((row) => row.key === editingId);
    if (index >= 0) {
      virtualizer.scrollToIndex(index, { align: "auto" });
    }
  });
  useEffect(() => {
    if (editingId !== null) {
      show();
    }
  }, [editingId]);
}
