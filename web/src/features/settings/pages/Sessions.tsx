import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { FormattedDate } from "react-intl";

import { endSessions, getSessions, type AuthSession } from "../../../api/settings";
import { Translate, useText } from "../../../i18n/translate";
import { Button } from "../../../ui/controls";
import { useSession } from "../../session/session";
import { PasswordDialog } from "../PasswordDialog";
import { QueryList } from "../QueryList";

/** Where the user is logged in, the last used first. */
export default function Sessions() {
  const text = useText();
  const { api } = useSession();
  const sessions = useQuery({ queryKey: ["sessions"], queryFn: () => getSessions(api) });
  const [ending, setEnding] = useState<AuthSession | null>(null);
  const close = () => {
    setEnding(null);
    void sessions.refetch();
  };
  return (
    <section className="preferences-block">
      <p className="field-hint">{text("settings.sessions.hint")}</p>
      <QueryList query={sessions} none={text("settings.sessions.none")}>
        {(session) => (
          <li key={session.id_hash} className="preferences-row">
            <span className="preferences-text">
              <strong>{clientName(session) ?? text("settings.sessions.unknown")}</strong>
              {session.is_current && <span className="field-hint">{text("settings.sessions.current")}</span>}
              <span className="field-hint">
                <Translate
                  id="settings.sessions.used"
                  values={{
                    date: (
                      <FormattedDate
                        key="date"
                        value={session.approx_last_used_time}
                        dateStyle="medium"
                        timeStyle="short"
                      />
                    ),
                    location: session.client_info.location ?? "",
                  }}
                />
              </span>
            </span>
            <Button onPress={() => setEnding(session)}>{text("settings.sessions.end")}</Button>
          </li>
        )}
      </QueryList>
      {ending !== null && (
        <PasswordDialog
          title={text("settings.sessions.end")}
          onConfirm={(password) => endSessions(api, [ending.id_hash], password)}
          onConfirmed={close}
          onClose={close}
        >
          <p>{text("settings.sessions.end.question")}</p>
        </PasswordDialog>
      )}
    </section>
  );
}

function clientName({ client_info: { platform, os } }: AuthSession): string | null {
  const parts = [platform, os].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(" · ");
}
