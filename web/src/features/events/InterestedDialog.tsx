import type { APIGuildScheduledEvent, APIUser } from "discord-api-types/v10";
import { useEffect, useState } from "react";

import { getInterested, getResponses } from "../../api/events";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { UserRow } from "../users/UserRow";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";

const PAGE_SIZE = 100;
const UNINTERESTED = 0;

interface InterestedDialogProps {
  event: APIGuildScheduledEvent;
  /** One occurrence instead of the event as a whole: when it starts by the rule, in milliseconds, and its date. */
  occurrence?: { original: number; date: string };
  onClose: () => void;
}

/** Who is interested in an event, or has responded to one of its occurrences. */
export function InterestedDialog({ event, occurrence, onClose }: InterestedDialogProps) {
  const text = useText();
  const { api } = useSession();
  const { id, guild_id: guildId } = event;
  const original = occurrence?.original;
  const [users, setUsers] = useState<readonly { user: APIUser; response?: number }[]>([]);
  const [after, setAfter] = useState("0");
  const [status, setStatus] = useState<"loading" | "more" | "done">("loading");
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let current = true;
    const page =
      original === undefined
        ? getInterested(api, { guild_id: guildId, id }, after, PAGE_SIZE)
        : getResponses(api, { guild_id: guildId, id }, original, after, PAGE_SIZE);
    page.then(
      (loaded) => {
        if (current) {
          setUsers((before) => [...before, ...loaded]);
          setStatus(loaded.length === PAGE_SIZE ? "more" : "done");
        }
      },
      (caught: unknown) => current && setError(caught),
    );
    return () => {
      current = false;
    };
  }, [api, guildId, id, original, after]);
  const absent = users.filter(({ response }) => response === UNINTERESTED);
  const present = users.filter(({ response }) => response !== UNINTERESTED);
  const title =
    occurrence === undefined
      ? text("event.interested.list")
      : text("event.date.responses.of", { date: occurrence.date });
  return (
    <Dialog title={title} onClose={onClose}>
      <ErrorNotice error={error} />
      <ul
        className="event-users"
        aria-busy={status === "loading" && error === null}
        aria-label={text("event.interested")}
      >
        {present.map(({ user }) => (
          <UserRow key={user.id} user={user} guildId={guildId} />
        ))}
      </ul>
      {status === "done" && present.length === 0 && (
        <p className="field-hint">{text("event.interested.none")}</p>
      )}
      {absent.length > 0 && (
        <>
          <h3>{text("event.date.absent")}</h3>
          <ul className="event-users" aria-label={text("event.date.absent")}>
            {absent.map(({ user }) => (
              <UserRow key={user.id} user={user} guildId={guildId} />
            ))}
          </ul>
        </>
      )}
      <div className="dialog-actions">
        {status === "more" && (
          <Button
            onPress={() => {
              setStatus("loading");
              setAfter(users.at(-1)?.user.id ?? "0");
            }}
          >
            {text("event.interested.more")}
          </Button>
        )}
        <Button onPress={onClose}>{text("common.close")}</Button>
      </div>
    </Dialog>
  );
}
