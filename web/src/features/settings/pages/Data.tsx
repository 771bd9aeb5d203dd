import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { FormattedDate } from "react-intl";

import { closeAccount } from "../../../api/accounts";
import { createHarvest, getHarvest, type Harvest } from "../../../api/settings";
import { Translate, useText } from "../../../i18n/translate";
import { Button } from "../../../ui/controls";
import { Checkbox } from "../../../ui/fields";
import { formatSize } from "../../attachments/formatSize";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useSession } from "../../session/session";
import { useAction, useErrorText } from "../../session/useAction";
import { PasswordDialog } from "../PasswordDialog";
import { archiveState, nextRequest } from "../archive";

const POLL_MS = 3_000;
const KINDS = ["accounts", "messages", "servers"] as const;
type Kind = (typeof KINDS)[number];

/** The user's own data as an archive, and the end of their account. */
export default function Data() {
  return (
    <>
      <Archive />
      <Closing />
    </>
  );
}

function Archive() {
  const text = useText();
  const { api } = useSession();
  const errorText = useErrorText();
  const harvest = useQuery({
    queryKey: ["harvest"],
    queryFn: () => getHarvest(api),
    // The URL is valid for an hour only.
    staleTime: 0,
    refetchInterval: ({ state }) =>
      state.data && archiveState(state.data) === "collecting" ? POLL_MS : false,
  });
  return (
    <section className="preferences-block">
      <h2>{text("settings.archive")}</h2>
      <p className="field-hint">{text("settings.archive.hint")}</p>
      {harvest.isPending ? (
        <div className="skeleton settings-skeleton" aria-hidden="true" />
      ) : harvest.isError ? (
        <div role="alert" className="preferences-row">
          <span className="preferences-text">{errorText(harvest.error)}</span>
          <Button onPress={() => void harvest.refetch()}>{text("common.retry")}</Button>
        </div>
      ) : (
        <>
          {harvest.data !== null && <ArchiveRow harvest={harvest.data} />}
          <ArchiveForm harvest={harvest.data} onRequested={() => void harvest.refetch()} />
        </>
      )}
    </section>
  );
}

function ArchiveRow({ harvest }: { harvest: Harvest }) {
  const text = useText();
  const state = archiveState(harvest);
  return (
    <div className="preferences-row" role="status">
      <span className="preferences-text">
        <strong>{text(`settings.archive.${state}`)}</strong>
        <span className="field-hint">
          <FormattedDate value={harvest.created_at} dateStyle="medium" timeStyle="short" />
          {harvest.size > 0 && ` · ${formatSize(harvest.size)}`}
        </span>
      </span>
      {harvest.download_url !== null && (
        <a className="button button-primary" href={harvest.download_url} download>
          <Download size={16} aria-hidden="true" /> {text("settings.archive.download")}
        </a>
      )}
    </div>
  );
}

function ArchiveForm({ harvest, onRequested }: { harvest: Harvest | null; onRequested: () => void }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const [kinds, setKinds] = useState<readonly Kind[]>(KINDS);
  const [now] = useState(() => Date.now());
  const next = nextRequest(harvest, now);
  if (harvest !== null && archiveState(harvest) === "collecting") {
    return null;
  }
  if (next !== null) {
    return (
      <p className="field-hint">
        <Translate
          id="settings.archive.next"
          values={{ date: <FormattedDate key="date" value={next} dateStyle="medium" timeStyle="short" /> }}
        />
      </p>
    );
  }
  const request = async () => {
    if (await action.run(() => createHarvest(api, kinds))) {
      onRequested();
    }
  };
  return (
    <div className="settings-form">
      <div role="group" aria-label={text("settings.archive.kinds")} className="stack">
        {KINDS.map((kind) => (
          <Checkbox
            key={kind}
            label={text(`settings.archive.kind.${kind}`)}
            isSelected={kinds.includes(kind)}
            onChange={(selected) =>
              setKinds(KINDS.filter((each) => (each === kind ? selected : kinds.includes(each))))
            }
          />
        ))}
      </div>
      <ErrorNotice error={action.error} />
      <div className="preferences-save">
        <Button
          kind="primary"
          isDisabled={kinds.length === 0 || action.pending}
          onPress={() => void request()}
        >
          {text("settings.archive.request")}
        </Button>
      </div>
    </div>
  );
}

type Way = "disable" | "delete";

function Closing() {
  const text = useText();
  const [way, setWay] = useState<Way | null>(null);
  return (
    <section className="preferences-block">
      <h2>{text("settings.close.title")}</h2>
      <p className="field-hint">{text("settings.close.hint")}</p>
      <div className="preferences-actions">
        <Button onPress={() => setWay("disable")}>{text("settings.close.disable")}</Button>
        <Button kind="danger" onPress={() => setWay("delete")}>
          {text("settings.close.delete")}
        </Button>
      </div>
      {way !== null && <CloseDialog way={way} onClose={() => setWay(null)} />}
    </section>
  );
}

/** Says what happens, asks for the password, closes the account and logs out. */
function CloseDialog({ way, onClose }: { way: Way; onClose: () => void }) {
  const text = useText();
  const { api, logOut } = useSession();
  return (
    <PasswordDialog
      title={text(`settings.close.${way}`)}
      onConfirm={(password) => closeAccount(api, way, password)}
      // Its login has ended: this forgets it on the device.
      onConfirmed={() => void logOut()}
      onClose={onClose}
    >
      <ul className="preferences-notes">
        <li>{text("settings.close.note.logins")}</li>
        <li>{text(`settings.close.note.${way}`)}</li>
        <li>{text("settings.close.note.messages")}</li>
        <li>{text("settings.close.note.guilds")}</li>
        <li>{text(`settings.close.note.undo.${way}`)}</li>
      </ul>
    </PasswordDialog>
  );
}
