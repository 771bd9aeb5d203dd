import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useIntl } from "react-intl";

import {
  createLegalHold,
  listLegalHolds,
  readRetainedMessages,
  releaseLegalHold,
  type HoldScope,
  type LegalHold,
  type RetainedMessage,
} from "../../api/operations";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { useSession } from "../session/session";
import { ReasonDialog } from "./ReasonDialog";
import { Rows } from "./Rows";

const COLUMNS = ["admin.hold.name", "admin.rule.scope", "admin.log.when", "admin.acts"] as const;
const SCOPES = ["user", "guild", "channel"] as const;

type Open = { act: "add"; hold: null } | { act: "read" | "release"; hold: LegalHold };

/** What is kept for the law when it is edited or deleted. */
export function LegalHolds() {
  const text = useText();
  const intl = useIntl();
  const { api, account } = useSession();
  const [open, setOpen] = useState<Open | null>(null);
  const query = useQuery({
    queryKey: [account.userId, "admin", "holds"],
    queryFn: () => listLegalHolds(api),
    retry: false,
    staleTime: 0,
  });
  const closeDialog = () => setOpen(null);
  return (
    <section className="admin-page" aria-labelledby="admin-holds">
      <h2 id="admin-holds">{text("admin.holds")}</h2>
      <p>{text("admin.holds.what")}</p>
      <div className="admin-bar">
        <Button onPress={() => setOpen({ act: "add", hold: null })}>{text("admin.hold.add")}</Button>
      </div>
      <Rows
        label="admin.holds"
        columns={COLUMNS}
        query={query}
        rows={query.data ?? []}
        keyOf={({ id }) => id}
        cells={(hold) => [
          <strong key="name" dir="auto">
            {hold.name}
          </strong>,
          <span key="scope" className="admin-name">
            <strong>{text(`admin.scope.${hold.scope}`)}</strong>
            <span>{hold.target_id}</span>
          </span>,
          intl.formatDate(hold.created_at, { dateStyle: "medium" }),
          <span key="acts" className="admin-acts">
            {(["read", "release"] as const).map((act) => (
              <Button
                key={act}
                aria-label={text("admin.act.on", { act: text(`admin.hold.${act}`), name: hold.name })}
                onPress={() => setOpen({ act, hold })}
              >
                {text(`admin.hold.${act}`)}
              </Button>
            ))}
          </span>,
        ]}
      />
      {open?.act === "add" && <AddDialog onClose={closeDialog} />}
      {open?.act === "read" && <ReadDialog hold={open.hold} onClose={closeDialog} />}
      {open?.act === "release" && <ReleaseDialog hold={open.hold} onClose={closeDialog} />}
    </section>
  );
}

function AddDialog({ onClose }: { onClose: () => void }) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const [scope, setScope] = useState<HoldScope>("user");
  const [target, setTarget] = useState("");
  const [name, setName] = useState("");
  const confirm = async (reason: string) => {
    await createLegalHold(api, { scope, target_id: target.trim(), name: name.trim() }, reason);
    await client.invalidateQueries({ queryKey: [account.userId, "admin", "holds"] });
  };
  return (
    <ReasonDialog
      title={text("admin.hold.add")}
      isDisabled={target.trim() === "" || name.trim() === ""}
      onConfirm={confirm}
      onClose={onClose}
    >
      <Select
        label={text("admin.rule.scope")}
        value={scope}
        options={SCOPES.map((each) => [each, text(`admin.scope.${each}`)] as const)}
        onChange={setScope}
      />
      <TextField label={text("admin.scope.id")} value={target} onChange={setTarget} isRequired />
      <TextField
        label={text("admin.hold.name")}
        hint={text("admin.hold.name.hint")}
        value={name}
        onChange={setName}
        maxLength={200}
        isRequired
      />
    </ReasonDialog>
  );
}

function ReleaseDialog({ hold, onClose }: { hold: LegalHold; onClose: () => void }) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const confirm = async (reason: string) => {
    await releaseLegalHold(api, hold.id, reason);
    await client.invalidateQueries({ queryKey: [account.userId, "admin", "holds"] });
  };
  return (
    <ReasonDialog title={text("admin.hold.release")} kind="danger" onConfirm={confirm} onClose={onClose}>
      <p>{text("admin.hold.release.what", { name: hold.name })}</p>
    </ReasonDialog>
  );
}

function ReadDialog({ hold, onClose }: { hold: LegalHold; onClose: () => void }) {
  const text = useText();
  const intl = useIntl();
  const { api } = useSession();
  const [messages, setMessages] = useState<RetainedMessage[] | null>(null);
  if (messages === null) {
    return (
      <ReasonDialog
        title={text("admin.hold.read")}
        onConfirm={async (reason) => setMessages(await readRetainedMessages(api, hold.id, reason))}
        onClose={onClose}
        // What was read shows in place of the form.
        onDone={() => undefined}
      >
        <p>{text("admin.hold.read.what", { name: hold.name })}</p>
      </ReasonDialog>
    );
  }
  return (
    <Dialog title={hold.name} onClose={onClose}>
      {messages.length === 0 && <p>{text("admin.empty")}</p>}
      <ul className="admin-settings">
        {messages.map((message) => (
          <li key={message.copy_id}>
            <span className="admin-name">
              <span>
                {text(message.deleted ? "admin.hold.deleted" : "admin.hold.edited", {
                  moment: intl.formatDate(message.retained_at, { dateStyle: "short", timeStyle: "short" }),
                  author: message.author_id,
                })}
              </span>
              <strong dir="auto">{message.content || "–"}</strong>
              {message.files.map((file) => (
                <span key={file.id} dir="auto">
                  {file.filename}
                </span>
              ))}
            </span>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
