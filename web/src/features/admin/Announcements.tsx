import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useIntl } from "react-intl";

import {
  createAnnouncement,
  endAnnouncement,
  listAdministeredAnnouncements,
  type AdministeredAnnouncement,
} from "../../api/operations";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { NumberField } from "../../ui/NumberField";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { useSession } from "../session/session";
import { usePages } from "./pages";
import { ReasonDialog } from "./ReasonDialog";
import { Rows } from "./Rows";

const COLUMNS = ["admin.announcement.content", "admin.announcement.ends", "admin.acts"] as const;
const KINDS = ["notice", "urgent"] as const;
const CONTENT_MAX = 500;
const HOURS_MAX = 24 * 90;

/** Words to everyone, which the client shows until they end. */
export default function Announcements() {
  const text = useText();
  const intl = useIntl();
  const [open, setOpen] = useState<AdministeredAnnouncement | "new" | null>(null);
  const { query, rows } = usePages("announcements", null, listAdministeredAnnouncements, ({ id }) => id);
  const now = query.dataUpdatedAt;
  return (
    <div className="admin-page">
      <p>{text("admin.announcements.what")}</p>
      <div className="admin-bar">
        <Button kind="primary" onPress={() => setOpen("new")}>
          {text("admin.announcement.add")}
        </Button>
      </div>
      <Rows
        label="admin.announcements"
        columns={COLUMNS}
        query={query}
        rows={rows}
        keyOf={({ id }) => id}
        cells={(announcement) => [
          <span key="content" className="admin-name" dir="auto">
            <strong>{announcement.content}</strong>
            {announcement.urgent && <span>{text("admin.announcement.urgent")}</span>}
          </span>,
          intl.formatDate(announcement.ends_at, { dateStyle: "medium", timeStyle: "short" }),
          Date.parse(announcement.ends_at) > now ? (
            <Button
              key="end"
              aria-label={text("admin.act.on", {
                act: text("admin.announcement.end"),
                name: announcement.content,
              })}
              onPress={() => setOpen(announcement)}
            >
              {text("admin.announcement.end")}
            </Button>
          ) : (
            text("admin.announcement.ended")
          ),
        ]}
      />
      {open === "new" && <NewDialog onClose={() => setOpen(null)} />}
      {open !== null && open !== "new" && <EndDialog announcement={open} onClose={() => setOpen(null)} />}
    </div>
  );
}

function NewDialog({ onClose }: { onClose: () => void }) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const [content, setContent] = useState("");
  const [hours, setHours] = useState(24);
  const [kind, setKind] = useState<(typeof KINDS)[number]>("notice");
  const confirm = async (reason: string) => {
    await createAnnouncement(api, { content: content.trim(), hours, urgent: kind === "urgent" }, reason);
    await client.invalidateQueries({ queryKey: [account.userId] });
  };
  return (
    <ReasonDialog
      title={text("admin.announcement.add")}
      isDisabled={content.trim() === ""}
      onConfirm={confirm}
      onClose={onClose}
    >
      <TextField
        label={text("admin.announcement.content")}
        value={content}
        onChange={setContent}
        maxLength={CONTENT_MAX}
        multiline
        isRequired
      />
      <NumberField
        label={text("admin.announcement.hours")}
        value={hours}
        onChange={setHours}
        min={1}
        max={HOURS_MAX}
      />
      <Select
        label={text("admin.announcement.kind")}
        value={kind}
        options={KINDS.map((each) => [each, text(`admin.announcement.${each}`)] as const)}
        onChange={setKind}
      />
    </ReasonDialog>
  );
}

function EndDialog({
  announcement,
  onClose,
}: {
  announcement: AdministeredAnnouncement;
  onClose: () => void;
}) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const confirm = async (reason: string) => {
    await endAnnouncement(api, announcement.id, reason);
    await client.invalidateQueries({ queryKey: [account.userId] });
  };
  return (
    <ReasonDialog title={text("admin.announcement.end")} onConfirm={confirm} onClose={onClose}>
      <p dir="auto">{announcement.content}</p>
    </ReasonDialog>
  );
}
