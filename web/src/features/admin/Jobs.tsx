import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useIntl } from "react-intl";

import { dropJob, listJobs, retryFailedJobs, retryJob, type BackgroundJob } from "../../api/operations";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Select } from "../../ui/Select";
import { useSession } from "../session/session";
import { usePages } from "./pages";
import { ReasonDialog } from "./ReasonDialog";
import { Rows } from "./Rows";

const COLUMNS = [
  "admin.job.kind",
  "admin.job.state",
  "admin.job.next",
  "admin.job.error",
  "admin.acts",
] as const;
const FILTERS = ["failed", "all"] as const;

type Act = "retry" | "drop";
type Open = { act: Act; job: BackgroundJob } | { act: "retry_all"; job: null };

function actsOf({ state }: BackgroundJob): Act[] {
  return state === "failed" || state === "retrying" ? ["retry", "drop"] : ["drop"];
}

/** Background jobs: those that were given up are run again, or dropped. */
export default function Jobs() {
  const text = useText();
  const intl = useIntl();
  const [filter, setFilter] = useState<(typeof FILTERS)[number]>("failed");
  const [open, setOpen] = useState<Open | null>(null);
  const { query, rows } = usePages("jobs", { failed: filter === "failed" }, listJobs, ({ id }) => id);
  return (
    <div className="admin-page">
      <div className="admin-bar">
        <Select
          label={text("admin.job.filter")}
          value={filter}
          options={FILTERS.map((each) => [each, text(`admin.job.filter.${each}`)] as const)}
          onChange={setFilter}
        />
        {rows.some(({ state }) => state === "failed") && (
          <Button onPress={() => setOpen({ act: "retry_all", job: null })}>
            {text("admin.job.retry_all")}
          </Button>
        )}
      </div>
      <Rows
        label="admin.jobs"
        columns={COLUMNS}
        query={query}
        rows={rows}
        keyOf={({ id }) => id}
        cells={(job) => [
          <span key="kind" className="admin-name">
            <code>{job.kind}</code>
            <span>{job.id}</span>
          </span>,
          <span key="state">
            {text(`admin.job.state.${job.state}`)}
            {job.attempts > 0 && (
              <span className="admin-note">{text("admin.attempts", { count: job.attempts })}</span>
            )}
          </span>,
          job.next_attempt_at === null
            ? "–"
            : intl.formatDate(job.next_attempt_at, { dateStyle: "short", timeStyle: "short" }),
          <span key="error" className="admin-error">
            {job.last_error ?? "–"}
          </span>,
          <span key="acts" className="admin-acts">
            {actsOf(job).map((act) => (
              <Button
                key={act}
                aria-label={text("admin.act.on", { act: text(`admin.job.${act}`), name: job.id })}
                onPress={() => setOpen({ act, job })}
              >
                {text(`admin.job.${act}`)}
              </Button>
            ))}
          </span>,
        ]}
      />
      {open !== null && <ActDialog {...open} onClose={() => setOpen(null)} />}
    </div>
  );
}

function ActDialog({ act, job, onClose }: Open & { onClose: () => void }) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const confirm = async (reason: string) => {
    if (act === "retry_all") {
      await retryFailedJobs(api, reason);
    } else {
      await (act === "retry" ? retryJob : dropJob)(api, job.id, reason);
    }
    await client.invalidateQueries({ queryKey: [account.userId, "admin"] });
  };
  return (
    <ReasonDialog
      title={text(`admin.job.${act}`)}
      kind={act === "drop" ? "danger" : "primary"}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{text(`admin.job.${act}.what`)}</p>
    </ReasonDialog>
  );
}
