import type { APIUser } from "discord-api-types/v10";
import { useEffect, useState } from "react";

import { Translate, useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { useErrorText } from "../session/useAction";
import { UserRow } from "./UserRow";

const PAGE_SIZE = 50;

/** Requests the users after an id, at most so many. */
export type LoadUsers = (after: string | undefined, limit: number, signal: AbortSignal) => Promise<APIUser[]>;

interface UserPagesProps {
  /** A function that stays the same between renders. */
  load: LoadUsers;
  guildId: string | null;
  /** Said where there is nobody. */
  empty?: string;
}

/** Users that are loaded page by page. */
export function UserPages({ load, guildId, empty }: UserPagesProps) {
  const text = useText();
  const errorText = useErrorText();
  const [users, setUsers] = useState<readonly APIUser[]>([]);
  const [after, setAfter] = useState<string | undefined>(undefined);
  const [status, setStatus] = useState<"loading" | "more" | "done">("loading");
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    const abort = new AbortController();
    load(after, PAGE_SIZE, abort.signal).then(
      (page) => {
        setUsers((before) => [...before, ...page]);
        setStatus(page.length === PAGE_SIZE ? "more" : "done");
      },
      (caught: unknown) => !abort.signal.aborted && setError(caught),
    );
    return () => abort.abort();
  }, [load, after]);
  if (error !== null) {
    return (
      <p role="alert" className="field-error">
        {errorText(error)}
      </p>
    );
  }
  return (
    <>
      <ul>
        {users.map((user) => (
          <UserRow key={user.id} user={user} guildId={guildId} />
        ))}
      </ul>
      {status === "loading" && (
        <p role="status">
          <Translate id="app.loading" />
        </p>
      )}
      {status === "done" && users.length === 0 && empty !== undefined && (
        <p className="field-hint">{empty}</p>
      )}
      {status === "more" && (
        <Button
          onPress={() => {
            setStatus("loading");
            setAfter(users.at(-1)?.id);
          }}
        >
          {text("reactors.more")}
        </Button>
      )}
    </>
  );
}
