import type { APIGuildScheduledEvent, APIUser } from "discord-api-types/v10";
import { useEffect, useState } from "react";

import { getInterested } from "../../api/events";
import { useText } from "../../i18n/translate";
import { Button, Dialog } from "../../ui/controls";
import { UserRow } from "../members/UserRow";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";

const PAGE_SIZE = 100;

/** Who is interested in an event. */
export function InterestedDialog({ event, onClose }: { event: APIGuildScheduledEvent; onClose: () => void }) {
  const text = useText();
  const { api } = useSession();
  const { id, guild_id: guildId } = event;
  const [users, setUsers] = useState<readonly APIUser[]>([]);
  const [after, setAfter] = useState("0");
  const [status, setStatus] = useState<"loading" | "more" | "done">("loading");
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let current = true;
    getInterested(api, { guild_id: guildId, id }, after, PAGE_SIZE).then(
      (page) => {
        if (current) {
          setUsers((before) => [...before, ...page.map(({ user }) => user)]);
          setStatus(page.length === PAGE_SIZE ? "more" : "done");
        }
      },
      (caught: unknown) => current && setError(caught),
    );
    return () => {
      current = false;
    };
  }, [api, guildId, id, after]);
  return (
    <Dialog title={text("event.interested.list")} onClose={onClose}>
      <ErrorNotice error={error} />
      <ul className="event-users" aria-busy={status === "loading"}>
        {users.map((user) => (
          <UserRow key={user.id} user={user} guildId={guildId} />
        ))}
      </ul>
      {status === "done" && users.length === 0 && (
        <p className="field-hint">{text("event.interested.none")}</p>
      )}
      <div className="dialog-actions">
        {status === "more" && (
          <Button
            onPress={() => {
              setStatus("loading");
              setAfter(users.at(-1)?.id ?? "0");
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
