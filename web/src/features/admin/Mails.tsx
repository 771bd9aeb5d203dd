import { useState } from "react";
import { useIntl } from "react-intl";

import { listMails, type MailState } from "../../api/operations";
import type { MessageId } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { Select } from "../../ui/Select";
import { usePages } from "./pages";
import { Rows } from "./Rows";

const COLUMNS = ["admin.mail.when", "admin.mail.kind", "admin.mail.address", "admin.mail.state"] as const;
const STATES: readonly (MailState | "")[] = ["", "waiting", "sent", "failed"];

/** The mails of the last 30 days: what, to whom, and whether they were sent; never what they say. */
export default function Mails() {
  const text = useText();
  const intl = useIntl();
  const [state, setState] = useState<MailState | "">("");
  const { query, rows } = usePages("mails", { state }, listMails, ({ id }) => id);
  return (
    <div className="admin-page">
      <p>{text("admin.mails.what")}</p>
      <div className="admin-bar">
        <Select
          label={text("admin.mail.filter")}
          value={state}
          options={STATES.map(
            (each) => [each, text(`admin.mail.state.${each || "any"}` as MessageId)] as const,
          )}
          onChange={setState}
        />
      </div>
      <Rows
        label="admin.mails"
        columns={COLUMNS}
        query={query}
        rows={rows}
        keyOf={({ id }) => id}
        cells={(mail) => [
          intl.formatDate(mail.created_at, { dateStyle: "short", timeStyle: "short" }),
          <code key="kind">{mail.kind}</code>,
          <span key="address" dir="auto">
            {mail.address}
          </span>,
          <span key="state" className="admin-name">
            <strong>{text(`admin.mail.state.${mail.state}`)}</strong>
            {mail.last_error !== null && (
              <>
                <span>{text("admin.attempts", { count: mail.attempts })}</span>
                <span className="admin-error">{mail.last_error}</span>
              </>
            )}
          </span>,
        ]}
      />
    </div>
  );
}
