import type { APIGuildScheduledEvent } from "discord-api-types/v10";
import { useEffect } from "react";

import { getInterested, setInterested } from "../../api/events";
import { setInterest } from "../../store/scheduledEvents";
import { useAppState, useSession } from "../session/session";
import { useAction, type Action } from "../session/useAction";

/** Whether the user is interested in an event, and changing that. Undefined until the server has said it. */
export function useInterest(event: APIGuildScheduledEvent): {
  interested: boolean | undefined;
  toggle: () => void;
  action: Action;
} {
  const { api, store } = useSession();
  const action = useAction();
  const { id, guild_id: guildId } = event;
  const interested = useAppState((state) => state.interests[id]);
  const userId = useAppState((state) => state.user?.id);
  const isUnknown = interested === undefined;
  useEffect(() => {
    if (!isUnknown || userId === undefined) {
      return;
    }
    // The list of users begins with the user, if they are in it.
    getInterested(api, { guild_id: guildId, id }, String(BigInt(userId) - 1n), 1).then(
      ([first]) => store.update((state) => setInterest(state, id, first?.user.id === userId)),
      () => undefined,
    );
  }, [api, store, id, guildId, userId, isUnknown]);
  const announce = (now: boolean) =>
    store.dispatch(`GUILD_SCHEDULED_EVENT_USER_${now ? "ADD" : "REMOVE"}`, {
      guild_scheduled_event_id: id,
      user_id: userId,
    });
  const toggle = () => {
    const now = interested !== true;
    announce(now);
    void action
      .run(() => setInterested(api, { guild_id: guildId, id }, now))
      .then((done) => done || announce(!now));
  };
  return { interested, toggle, action };
}
