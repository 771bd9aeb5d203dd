import type { APIGuildScheduledEvent } from "discord-api-types/v10";
import { useEffect, useState } from "react";

import { getEvent } from "../../api/events";
import { putScheduledEvent } from "../../store/scheduledEvents";
import { useAppState, useSession } from "../session/session";
import { EventCard } from "./EventCard";
import { InterestedDialog } from "./InterestedDialog";
import type { EventLink } from "./links";
import { WithEventTexts } from "./WithEventTexts";
import "./events.css";

/** The cards of the events that a message links to; none for events that the user cannot see or that are over. */
export default function LinkedEvents({ links }: { links: readonly EventLink[] }) {
  return (
    <WithEventTexts>
      {links.map((link) => (
        <LinkedEvent key={link.eventId} link={link} />
      ))}
    </WithEventTexts>
  );
}

function LinkedEvent({ link: { guildId, eventId } }: { link: EventLink }) {
  const { api, store } = useSession();
  const event = useAppState((state) => state.scheduledEvents[eventId]);
  const isMember = useAppState((state) => guildId in state.guilds);
  const [shows, setShows] = useState<APIGuildScheduledEvent | null>(null);
  const lacksCount = isMember && event?.user_count === undefined;
  useEffect(() => {
    if (lacksCount) {
      getEvent(api, guildId, eventId).then(
        (loaded) => store.update((state) => putScheduledEvent(state, loaded)),
        () => undefined,
      );
    }
  }, [api, store, guildId, eventId, lacksCount]);
  return event === undefined ? null : (
    <>
      <EventCard event={event} onShowInterested={setShows} />
      {shows !== null && <InterestedDialog event={shows} onClose={() => setShows(null)} />}
    </>
  );
}
