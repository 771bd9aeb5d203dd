import { Link } from "@tanstack/react-router";
import type { APIGuildScheduledEvent } from "discord-api-types/v10";
import { Bell, BellRing, MapPin, MoreVertical, Repeat, Users } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton } from "react-aria-components";
import { useIntl } from "react-intl";

import { eventImageUrl } from "../../api/images";
import { modifyEvent } from "../../api/events";
import { useText } from "../../i18n/translate";
import { channelName } from "../../store/selectors";
import { isActive, putScheduledEvent } from "../../store/scheduledEvents";
import { Button, IconButton } from "../../ui/controls";
import { Menu, MenuItem } from "../../ui/Menu";
import { ChannelIcon } from "../channels/ChannelIcon";
import { Content } from "../content/Content";
import { Confirm } from "../session/Confirm";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { eventUrl } from "./links";
import { currentOccurrence } from "./occurrences";
import { recurrenceOf, weekOfMonth } from "./recurrence";
import { mayManageEvent } from "./rules";
import { dayAndTime } from "./times";
import { useInterest } from "./useInterest";

const ACTIVE = 2;
const COMPLETED = 3;
const CANCELED = 4;

interface EventCardProps {
  event: APIGuildScheduledEvent;
  /** Without it, the event cannot be changed here. */
  onEdit?: (event: APIGuildScheduledEvent) => void;
  onShowInterested: (event: APIGuildScheduledEvent) => void;
  /** Without it, the dates of a recurring event are not shown. */
  onShowDates?: (event: APIGuildScheduledEvent) => void;
  /** Called when a link leads away. */
  onLeave?: () => void;
}

/** An event with its time and place, who is interested, and what the user may do with it. */
export function EventCard({ event, onEdit, onShowInterested, onShowDates, onLeave }: EventCardProps) {
  const text = useText();
  const { interested, toggle, action } = useInterest(event);
  const image = eventImageUrl(event.id, event.image ?? null, 560);
  return (
    <article className="event-card" aria-label={event.name}>
      {image !== null && <img className="event-image" src={image} alt="" loading="lazy" />}
      <div className="event-head">
        <EventTime event={event} />
        {onEdit && <EventMenu event={event} onEdit={onEdit} onShowDates={onShowDates} />}
      </div>
      <h3 className="event-name" dir="auto">
        {event.name}
      </h3>
      <EventPlace event={event} onLeave={onLeave} />
      {event.recurrence_rule && <RecurrenceText event={event} />}
      {event.description && (
        <div className="event-description">
          <Content content={event.description} guildId={event.guild_id} />
        </div>
      )}
      <div className="event-foot">
        <AriaButton className="link-button event-count" onPress={() => onShowInterested(event)}>
          <Users size={16} aria-hidden="true" />
          {text("event.interested.count", { count: event.user_count ?? 0 })}
        </AriaButton>
        <Button
          kind={interested ? "plain" : "primary"}
          aria-pressed={interested === true}
          isDisabled={interested === undefined || action.pending}
          onPress={toggle}
        >
          {interested ? <BellRing size={16} aria-hidden="true" /> : <Bell size={16} aria-hidden="true" />}
          {text("event.interested")}
        </Button>
      </div>
      <ErrorNotice error={action.error} />
    </article>
  );
}

function EventTime({ event }: { event: APIGuildScheduledEvent }) {
  const text = useText();
  const intl = useIntl();
  const { start, end, isCanceled } = currentOccurrence(event);
  if (isActive(event)) {
    return <span className="event-time event-now">{text("event.now")}</span>;
  }
  return (
    <span className="event-time">
      <time dateTime={new Date(start).toISOString()} className={isCanceled ? "event-date-canceled" : ""}>
        {dayAndTime(intl, start, end)}
      </time>
      {isCanceled && <span className="event-date-note event-date-off">{text("event.date.canceled")}</span>}
    </span>
  );
}

function EventPlace({
  event,
  onLeave,
}: {
  event: APIGuildScheduledEvent;
  onLeave: (() => void) | undefined;
}) {
  const channel = useAppState((state) => state.channels[event.channel_id ?? ""]);
  const name = useAppState((state) => (channel === undefined ? "" : channelName(state, channel)));
  if (channel === undefined) {
    return (
      <p className="event-place">
        <MapPin size={16} aria-hidden="true" /> {event.entity_metadata?.location ?? ""}
      </p>
    );
  }
  return (
    <p className="event-place">
      <ChannelIcon type={channel.type} />
      <Link
        to="/channels/$guildId/$channelId"
        params={{ guildId: event.guild_id, channelId: channel.id }}
        {...(onLeave && { onClick: onLeave })}
      >
        {name}
      </Link>
    </p>
  );
}

function RecurrenceText({ event }: { event: APIGuildScheduledEvent }) {
  const text = useText();
  const intl = useIntl();
  const recurrence = recurrenceOf(event.recurrence_rule);
  const start = new Date(event.recurrence_rule?.start ?? event.scheduled_start_time);
  return (
    <p className="event-place">
      <Repeat size={16} aria-hidden="true" />
      {text(`event.recurs.${recurrence}`, {
        weekday: intl.formatDate(start, { weekday: "long" }),
        day: intl.formatDate(start, { day: "numeric", month: "long" }),
        week: weekOfMonth(start),
      })}
    </p>
  );
}

function EventMenu({
  event,
  onEdit,
  onShowDates,
}: {
  event: APIGuildScheduledEvent;
  onEdit: (event: APIGuildScheduledEvent) => void;
  onShowDates: ((event: APIGuildScheduledEvent) => void) | undefined;
}) {
  const text = useText();
  const { api, store } = useSession();
  const action = useAction();
  const mayManage = useAppState((state) => mayManageEvent(state, event));
  const [asks, setAsks] = useState(false);
  const active = isActive(event);
  const setStatus = async (status: number) => {
    const changed = await modifyEvent(api, event, { status });
    store.update((state) => putScheduledEvent(state, changed));
  };
  return (
    <>
      <Menu
        label={text("event.menu", { name: event.name })}
        trigger={
          <IconButton label={text("event.menu", { name: event.name })}>
            <MoreVertical size={16} />
          </IconButton>
        }
      >
        <MenuItem onAction={() => void navigator.clipboard.writeText(eventUrl(event))}>
          {text("event.copyLink")}
        </MenuItem>
        {onShowDates && event.recurrence_rule && (
          <MenuItem onAction={() => onShowDates(event)}>{text("event.dates")}</MenuItem>
        )}
        {mayManage && <MenuItem onAction={() => onEdit(event)}>{text("event.edit")}</MenuItem>}
        {mayManage && (
          <MenuItem onAction={() => void action.run(() => setStatus(active ? COMPLETED : ACTIVE))}>
            {text(active ? "event.end" : "event.start")}
          </MenuItem>
        )}
        {mayManage && !active && (
          <MenuItem danger onAction={() => setAsks(true)}>
            {text("event.cancel")}
          </MenuItem>
        )}
      </Menu>
      <ErrorNotice error={action.error} />
      {asks && (
        <Confirm
          title={text("event.cancel")}
          question={text("event.cancel.question", { name: event.name })}
          confirm={text("event.cancel")}
          onConfirm={() => setStatus(CANCELED)}
          onClose={() => setAsks(false)}
        />
      )}
    </>
  );
}
