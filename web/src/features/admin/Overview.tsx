import { useQuery } from "@tanstack/react-query";
import { useIntl } from "react-intl";

import { getOverview, type Figures } from "../../api/admin";
import type { MessageId } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { SettingsSkeleton } from "../shell/SettingsFrame";
import { FiguresOverTime } from "./FiguresOverTime";

const FIGURES: readonly (readonly [keyof Figures, MessageId])[] = [
  ["users", "admin.figure.users"],
  ["suspended_users", "admin.figure.suspended_users"],
  ["pending_users", "admin.figure.pending_users"],
  ["bots", "admin.figure.bots"],
  ["guilds", "admin.figure.guilds"],
  ["file_bytes", "admin.figure.file_bytes"],
  ["waiting_mails", "admin.figure.waiting_mails"],
  ["failed_mails", "admin.figure.failed_mails"],
  ["waiting_jobs", "admin.figure.waiting_jobs"],
  ["failed_jobs", "admin.figure.failed_jobs"],
];
const MEGABYTE = 1_000_000;

/** How much there is on the server, and what waits or has failed. */
export default function OverviewPage() {
  const text = useText();
  const intl = useIntl();
  const { api, account } = useSession();
  const query = useQuery({
    queryKey: [account.userId, "admin", "overview"],
    queryFn: () => getOverview(api),
    retry: false,
    staleTime: 0,
  });
  const { data } = query;
  const shown = (name: keyof Figures, value: number) =>
    name === "file_bytes"
      ? intl.formatNumber(value / MEGABYTE, { style: "unit", unit: "megabyte", maximumFractionDigits: 1 })
      : intl.formatNumber(value);
  return (
    <div className="admin-page">
      <ErrorNotice error={query.error} />
      {query.isPending && <SettingsSkeleton />}
      {data !== undefined && (
        <>
          <p>
            {text("admin.version", {
              name: data.instance_name,
              version: data.version,
              revision: data.revision,
            })}
          </p>
          <dl className="admin-figures">
            {FIGURES.map(([name, label]) => (
              <div key={name}>
                <dt>{text(label)}</dt>
                <dd>{shown(name, data.figures[name])}</dd>
              </div>
            ))}
          </dl>
          <FiguresOverTime />
        </>
      )}
    </div>
  );
}
