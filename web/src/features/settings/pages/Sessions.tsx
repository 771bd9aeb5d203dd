import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Form } from "react-aria-components";
import { FormattedDate } from "react-intl";

import { endSessions, getSessions, type AuthSession } from "../../../api/settings";
import { Translate, useText } from "../../../i18n/translate";
import { DialogFooter } from "../../../ui/DialogFooter";
import { Button, Dialog, TextField } from "../../../ui/controls";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useSession } from "../../session/session";
import { fieldError, useAction } from "../../session/useAction";
import { QueryList } from "../QueryList";

/** Where the user is logged in, the last used first. */
export default function Sessions() {
  const text = useText();
  const { api } = useSession();
  const sessions = useQuery({ queryKey: ["sessions"], queryFn: () => getSessions(api) });
  const [ending, setEnding] = useState<readonly AuthSession[] | null>(null);
  return (
    <section className="preferences-block">
      <p className="field-hint">{text("settings.sessions.hint")}</p>
      <QueryList query={sessions} none={text("settings.sessions.none")}>
        {(session) => (
          <li key={session.id_hash} className="preferences-row">
            <span className="preferences-text">
              <strong>{clientName(session) ?? text("settings.sessions.unknown")}</strong>
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
            <Button onPress={() => setEnding([session])}>{text("settings.sessions.end")}</Button>
          </li>
        )}
      </QueryList>
      {ending !== null && (
        <EndDialog
          sessions={ending}
          onClose={() => {
            setEnding(null);
            void sessions.refetch();
          }}
        />
      )}
    </section>
  );
}

function clientName({ client_info: { platform, os } }: AuthSession): string | null {
  const parts = [platform, os].filter((part) => part !== null);
  return parts.length === 0 ? null : parts.join(" · ");
}

function EndDialog({ sessions, onClose }: { sessions: readonly AuthSession[]; onClose: () => void }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const [password, setPassword] = useState("");
  const end = async () => {
    const ids = sessions.map((session) => session.id_hash);
    if (await action.run(() => endSessions(api, ids, password))) {
      onClose();
    }
  };
  return (
    <Dialog title={text("settings.sessions.end")} onClose={onClose}>
      <Form
        className="stack"
        validationBehavior="aria"
        onSubmit={(event) => {
          event.preventDefault();
          void end();
        }}
      >
        <p>{text("settings.sessions.end.question")}</p>
        <TextField
          label={text("settings.password.current")}
          type="password"
          value={password}
          onChange={setPassword}
          autoFocus
          isRequired
          autoComplete="current-password"
          error={fieldError(action.error, "password")}
        />
        <ErrorNotice error={action.error} shown={["password"]} />
        <DialogFooter
          confirm={text("settings.sessions.end")}
          kind="danger"
          isDisabled={action.pending || password === ""}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  );
}
