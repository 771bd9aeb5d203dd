import type { APIGuildScheduledEvent } from "discord-api-types/v10";
import { CalendarPlus, CalendarX } from "lucide-react";
import { useEffect, useMemo, useState } from "react";

import { listEvents } from "../../api/events";
import { useText } from "../../i18n/translate";
import { eventsOf, putScheduledEvent } from "../../store/scheduledEvents";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { useAppState, useSession } from "../session/session";
import { EventCard } from "./EventCard";
import { EventForm } from "./EventForm";
import { InterestedDialog } from "./InterestedDialog";
import { OccurrencesDialog } from "./OccurrencesDialog";
import { mayCreateEvents } from "./rules";
import { WithEventTexts } from "./WithEventTexts";
import "./events.css";

interface EventsDialogProps {
  guildId: string;
  /** The event that a link leads to: it is shown alone. */
  eventId: string | null;
  onClose: () => void;
}

/** The events of a guild, or one of them. */
export default function EventsDialog(props: EventsDialogProps) {
  return (
    <WithEventTexts>
      <Events {...props} />
    </WithEventTexts>
  );
}

function Events({ guildId, eventId, onClose }: EventsDialogProps) {
  const text = useText();
  const { api, store } = useSession();
  const all = useAppState((state) => state.scheduledEvents);
  const events = useMemo(
    () => eventsOf(all, guildId).filter((event) => eventId === null || event.id === eventId),
    [all, guildId, eventId],
  );
  const mayCreate = useAppState((state) => mayCreateEvents(state, guildId));
  const [editing, setEditing] = useState<APIGuildScheduledEvent | "new" | null>(null);
  const [datesOf, setDatesOf] = useState<string | null>(null);
  const [interestedIn, setInterestedIn] = useState<APIGuildScheduledEvent | null>(null);
  useEffect(() => {
    // The gateway sends no numbers of those who are interested.
    listEvents(api, guildId).then(
      (listed) => store.update((state) => listed.reduce(putScheduledEvent, state)),
      () => undefined,
    );
  }, [api, store, guildId]);
  if (editing !== null) {
    return (
      <Dialog
        title={text(editing === "new" ? "event.create" : "event.edit")}
        onClose={() => setEditing(null)}
      >
        <EventForm
          guildId={guildId}
          event={editing === "new" ? null : editing}
          onClose={() => setEditing(null)}
        />
      </Dialog>
    );
  }
  const withDates = datesOf === null ? undefined : events.find((event) => event.id === datesOf);
  if (withDates !== undefined) {
    return <OccurrencesDialog event={withDates} onClose={() => setDatesOf(null)} />;
  }
  return (
    <Dialog wide title={text("guild.events")} onClose={onClose}>
      <div className="events">
        {events.map((event) => (
          <EventCard
            key={event.id}
            event={event}
            onEdit={setEditing}
            onShowInterested={setInterestedIn}
            onShowDates={({ id }) => setDatesOf(id)}
            onLeave={onClose}
          />
        ))}
        {events.length === 0 && (
          <p className="events-empty">
            <CalendarX size={28} aria-hidden="true" />
            {text(eventId === null ? "event.none" : "event.gone")}
          </p>
        )}
      </div>
      <div className="dialog-actions">
        <Button onPress={onClose}>{text("common.close")}</Button>
        {mayCreate && (
          <Button kind="primary" onPress={() => setEditing("new")}>
            <CalendarPlus size={16} aria-hidden="true" /> {text("event.create")}
          </Button>
        )}
      </div>
      {interestedIn !== null && (
        <InterestedDialog event={interestedIn} onClose={() => setInterestedIn(null)} />
      )}
    </Dialog>
  );
}
