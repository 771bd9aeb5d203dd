import { useState } from "react";
import { useIntl } from "react-intl";

import { listLog } from "../../api/admin";
import { useText } from "../../i18n/translate";
import { Select } from "../../ui/Select";
import { usePages } from "./pages";
import { Rows } from "./Rows";

const COLUMNS = [
  "admin.log.when",
  "admin.log.who",
  "admin.log.act",
  "admin.log.changes",
  "admin.reason",
] as const;
const KINDS = [
  "",
  "user",
  "guild",
  "report",
  "application",
  "announcement",
  "job",
  "retention",
  "hold",
  "setting",
  "provider",
  "identity",
  "operator",
  "token",
] as const;

/** A value of the log as text. */
function shown(value: unknown): string {
  if (value === null || value === undefined || value === "") {
    return "–";
  }
  if (Array.isArray(value)) {
    return value.join(", ") || "–";
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What operators have done, newest first. */
export default function Log() {
  const text = useText();
  const intl = useIntl();
  const [kind, setKind] = useState<(typeof KINDS)[number]>("");
  const { query, rows } = usePages("log", kind, listLog, ({ number }) => number);
  return (
    <div className="admin-page">
      <div className="admin-bar">
        <Select
          label={text("admin.log.kind")}
          value={kind}
          options={KINDS.map((each) => [each, text(`admin.log.kind.${each || "any"}`)] as const)}
          onChange={setKind}
        />
      </div>
      <Rows
        label="admin.log"
        columns={COLUMNS}
        query={query}
        rows={rows}
        keyOf={({ number }) => number}
        cells={(entry) => [
          intl.formatDate(entry.created_at, { dateStyle: "short", timeStyle: "medium" }),
          <span key="who" className="admin-name" dir="auto">
            <strong>{entry.actor}</strong>
            <span>{text(`admin.log.origin.${entry.origin}`)}</span>
          </span>,
          <span key="act" className="admin-name">
            <code>{entry.act}</code>
            {entry.target_id !== null && <span>{entry.target_id}</span>}
          </span>,
          <ul key="changes" className="admin-changes">
            {Object.entries(entry.changes).map(([name, [before, after]]) => (
              <li key={name}>
                {name}: <del>{shown(before)}</del> <ins>{shown(after)}</ins>
              </li>
            ))}
          </ul>,
          <span key="reason" dir="auto">
            {entry.reason ?? "–"}
          </span>,
        ]}
      />
    </div>
  );
}
