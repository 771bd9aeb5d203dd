import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Input, Label, SearchField } from "react-aria-components";
import { useIntl } from "react-intl";

import {
  deleteAdministeredApplication,
  listAdministeredApplications,
  setApplicationDisabled,
  type AdministeredApplication,
} from "../../api/operations";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { useSession } from "../session/session";
import { usePages } from "./pages";
import { ReasonDialog } from "./ReasonDialog";
import { Rows } from "./Rows";

const COLUMNS = [
  "admin.application.name",
  "admin.guild.owner",
  "admin.application.guilds",
  "admin.user.created",
  "admin.acts",
] as const;

type Act = "disable" | "enable" | "delete";

/** The applications of the server: disabled, enabled and deleted. */
export default function Applications() {
  const text = useText();
  const intl = useIntl();
  const [search, setSearch] = useState("");
  const [open, setOpen] = useState<{ application: AdministeredApplication; act: Act } | null>(null);
  const { query, rows } = usePages("applications", { search }, listAdministeredApplications, ({ id }) => id);
  return (
    <div className="admin-page">
      <div className="admin-bar">
        <SearchField className="field" value={search} onChange={setSearch}>
          <Label>{text("admin.application.search")}</Label>
          <Input dir="auto" />
        </SearchField>
      </div>
      <Rows
        label="admin.applications"
        columns={COLUMNS}
        query={query}
        rows={rows}
        keyOf={({ id }) => id}
        cells={(application) => [
          <span key="name" className="admin-name">
            <strong dir="auto">{application.name}</strong>
            <span>{application.id}</span>
            {application.disabled && <span>{text("admin.application.disabled")}</span>}
          </span>,
          <span key="owner" dir="auto">
            {application.owner_name ?? application.owner_id}
          </span>,
          intl.formatNumber(application.guild_count),
          intl.formatDate(application.created_at, { dateStyle: "medium" }),
          <span key="acts" className="admin-acts">
            {([application.disabled ? "enable" : "disable", "delete"] as const).map((act) => (
              <Button
                key={act}
                aria-label={text("admin.act.on", {
                  act: text(`admin.application.${act}`),
                  name: application.name,
                })}
                onPress={() => setOpen({ application, act })}
              >
                {text(`admin.application.${act}`)}
              </Button>
            ))}
          </span>,
        ]}
      />
      {open !== null && <ActDialog {...open} onClose={() => setOpen(null)} />}
    </div>
  );
}

interface ActDialogProps {
  application: AdministeredApplication;
  act: Act;
  onClose: () => void;
}

function ActDialog({ application, act, onClose }: ActDialogProps) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const confirm = async (reason: string) => {
    if (act === "delete") {
      await deleteAdministeredApplication(api, application.id, reason);
    } else {
      await setApplicationDisabled(api, application.id, act === "disable", reason);
    }
    await client.invalidateQueries({ queryKey: [account.userId, "admin"] });
  };
  return (
    <ReasonDialog
      title={text(`admin.application.${act}`)}
      kind={act === "enable" ? "primary" : "danger"}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{text(`admin.application.${act}.what`, { name: application.name })}</p>
    </ReasonDialog>
  );
}
