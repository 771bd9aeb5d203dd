import type { APIMessage } from "discord-api-types/v10";
import { memo } from "react";
import { Button as AriaButton } from "react-aria-components";
import { useIntl } from "react-intl";

import { useText } from "../../i18n/translate";
import { Guard } from "../../ui/Guard";
import { Button } from "../../ui/controls";
import { loaded } from "../../ui/loaded";
import { Undrawable } from "../content/Undrawable";
import type { BlockedRow } from "./blocked";
import { ChannelStart } from "./ChannelStart";
import { DatePanel } from "./DatePanel";
import { MessageItem } from "./MessageItem";
import { PendingItem } from "./PendingItem";
import type { MessageRow, Row } from "./rows";

const SelectBox = loaded(async () => ({ default: (await import("./Selection")).SelectBox }));

export interface RowActions {
  channelId: string;
  guildId: string | null;
  /** The channel's name. */
  name: string;
  onEdit: (messageId: string | null) => void;
  onReply: (message: APIMessage) => void;
  onJump: (messageId: string) => void;
  /** The messages that are selected; null while none can be. */
  selected: ReadonlySet<string> | null;
  /** Called with a message to select, or to select no longer. Null where messages are not deleted together. */
  onSelect: ((messageId: string) => void) | null;
  /** Called with the key of a row of blocked messages that is to be unfolded or folded. */
  onToggleBlocked: (key: string) => void;
}

interface TimelineRowProps extends RowActions {
  row: Row;
  editing: boolean;
}

/** One row of the messages of a channel. */
export const TimelineRow = memo(function TimelineRow({ row, ...props }: TimelineRowProps) {
  switch (row.kind) {
    case "start":
      return <ChannelStart channelId={props.channelId} name={props.name} />;
    case "blocked":
      return <BlockedMessages row={row} onToggle={() => props.onToggleBlocked(row.key)} />;
    case "pending":
      return <PendingItem pending={row.pending} guildId={props.guildId} compact={row.compact} />;
    default:
      return <Message row={row} {...props} />;
  }
});

function Message({ row, ...props }: Omit<TimelineRowProps, "row"> & { row: MessageRow }) {
  const text = useText();
  const { guildId, selected, onSelect } = props;
  return (
    <>
      {row.day !== null && (
        <DayLine channelId={row.message.channel_id} timestamp={row.day} onJump={props.onJump} />
      )}
      {row.isFirstNew && (
        <div className="timeline-new" role="separator">
          {text("message.new")}
        </div>
      )}
      {selected !== null && onSelect !== null && (
        <SelectBox message={row.message} guildId={guildId} selected={selected} onSelect={onSelect} />
      )}
      <Guard fallback={<UndrawableMessage />}>
        <MessageItem
          message={row.message}
          guildId={guildId}
          compact={row.compact}
          editing={props.editing}
          onEdit={props.onEdit}
          onReply={props.onReply}
          onJump={props.onJump}
          onSelect={onSelect}
        />
      </Guard>
    </>
  );
}

interface DayLineProps {
  channelId: string;
  timestamp: string;
  onJump: (messageId: string) => void;
}

/** Says on which day the messages below were sent; leads to those of other days. */
function DayLine({ channelId, timestamp, onJump }: DayLineProps) {
  const text = useText();
  const { formatDate } = useIntl();
  const day = formatDate(timestamp, { dateStyle: "full" });
  return (
    <div className="timeline-day">
      <DatePanel channelId={channelId} time={Date.parse(timestamp)} onJump={onJump}>
        <AriaButton className="timeline-day-button" aria-label={text("message.day", { day })}>
          {day}
        </AriaButton>
      </DatePanel>
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
