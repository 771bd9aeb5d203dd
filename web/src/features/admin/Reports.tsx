import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useIntl } from "react-intl";

import { closeReport, getReport, listReports, OUTCOMES, type Outcome, type Report } from "../../api/admin";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { SettingsSkeleton } from "../shell/SettingsFrame";
import { usePages } from "./pages";
import { ReasonDialog } from "./ReasonDialog";
import { Rows } from "./Rows";

const COLUMNS = ["admin.report.when", "admin.report.what", "admin.report.words", "admin.acts"] as const;
const STATES = ["open", "closed"] as const;

/** What people have reported: the copies of it, and closing a report with what was done. */
export default function Reports() {
  const text = useText();
  const intl = useIntl();
  const [state, setState] = useState<Report["state"]>("open");
  const [open, setOpen] = useState<{ report: Report; act: "show" | "close" } | null>(null);
  const { query, rows } = usePages("reports", state, listReports, ({ id }) => id);
  const closeDialog = () => setOpen(null);
  const act = (report: Report, chosen: "show" | "close") => (
    <Button
      aria-label={text("admin.act.on", { act: text(`admin.report.${chosen}`), name: report.id })}
      onPress={() => setOpen({ report, act: chosen })}
    >
      {text(`admin.report.${chosen}`)}
    </Button>
  );
  return (
    <div className="admin-page">
      <div className="admin-bar">
        <Select
          label={text("admin.report.state")}
          value={state}
          options={STATES.map((each) => [each, text(`admin.report.state.${each}`)] as const)}
          onChange={setState}
        />
      </div>
      <Rows
        label="admin.reports"
        columns={COLUMNS}
        query={query}
        rows={rows}
        keyOf={({ id }) => id}
        cells={(report) => [
          intl.formatDate(report.created_at, { dateStyle: "short", timeStyle: "short" }),
          <span key="what" className="admin-name">
            <strong>{text(`admin.report.name.${report.name}`)}</strong>
            <span>{text(`admin.report.reason.${report.reason}`)}</span>
          </span>,
          <span key="words" className="admin-name" dir="auto">
            <span>{report.description || "–"}</span>
            {report.outcome !== null && <strong>{text(`admin.report.outcome.${report.outcome}`)}</strong>}
          </span>,
          <span key="acts" className="admin-acts">
            {act(report, "show")}
            {report.state === "open" && act(report, "close")}
          </span>,
        ]}
      />
      {open?.act === "show" && <EvidenceDialog report={open.report} onClose={closeDialog} />}
      {open?.act === "close" && <CloseDialog report={open.report} onClose={closeDialog} />}
    </div>
  );
}

function EvidenceDialog({ report, onClose }: { report: Report; onClose: () => void }) {
  const text = useText();
  const { api, account } = useSession();
  const query = useQuery({
    queryKey: [account.userId, "admin", "report", report.id],
    queryFn: () => getReport(api, report.id),
    retry: false,
    staleTime: 0,
  });
  return (
    <Dialog title={text("admin.report.evidence")} onClose={onClose}>
      <ErrorNotice error={query.error} />
      {query.isPending && <SettingsSkeleton />}
      <p>{text("admin.report.about", { id: report.user_id })}</p>
      <p>
        {report.reporter_id === null
          ? text("admin.report.reporter.gone")
          : text("admin.report.reporter", { id: report.reporter_id })}
      </p>
      {report.note !== null && <p dir="auto">{report.note}</p>}
      {query.data !== undefined && (
        <dl className="admin-evidence">
          {Object.entries(query.data.evidence)
            .filter(
              ([, value]) => value !== null && value !== "" && !(Array.isArray(value) && value.length === 0),
            )
            .map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd dir="auto">{typeof value === "string" ? value : JSON.stringify(value)}</dd>
              </div>
            ))}
        </dl>
      )}
    </Dialog>
  );
}

function CloseDialog({ report, onClose }: { report: Report; onClose: () => void }) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const [outcome, setOutcome] = useState<Outcome>("no_violation");
  const [note, setNote] = useState("");
  const confirm = async (reason: string) => {
    await closeReport(api, report.id, { outcome, note: note.trim() || null }, reason);
    await client.invalidateQueries({ queryKey: [account.userId, "admin"] });
  };
  return (
    <ReasonDialog title={text("admin.report.close")} onConfirm={confirm} onClose={onClose}>
      <Select
        label={text("admin.report.outcome")}
        value={outcome}
        options={OUTCOMES.map((each) => [each, text(`admin.report.outcome.${each}`)] as const)}
        onChange={setOutcome}
      />
      <TextField
        label={text("admin.report.note")}
        hint={text("admin.report.note.hint")}
        value={note}
        onChange={setNote}
        maxLength={1000}
        multiline
      />
    </ReasonDialog>
  );
}
