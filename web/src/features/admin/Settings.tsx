import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useIntl } from "react-intl";

import { listServerSettings, modifyServerSettings, type ServerSetting } from "../../api/admin";
import type { MessageId } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { SettingsSkeleton } from "../shell/SettingsFrame";
import { ReasonDialog } from "./ReasonDialog";

const CHOICES: Readonly<Record<string, readonly string[]>> = {
  registration: ["open", "token", "domain", "approval", "closed"],
  message_requests: ["true", "false"],
  discovery: ["true", "false"],
};

/** Settings that have forms of their own: the steps of the setup. */
const HAS_STEP = /^(?:smtp_|mail_from$|instance_icon$)/;

const LONG_TEXTS: ReadonlySet<string> = new Set(["instance_description"]);

/** A value as the fields of forms have it. */
function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join("\n") : String(value);
}

/** What was typed, as the API takes it: of the type that the setting has. */
function valueOf(typed: string, { value }: ServerSetting): unknown {
  if (Array.isArray(value)) {
    return typed
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== "");
  }
  if (typeof value === "number") {
    return /^\d+$/.test(typed.trim()) ? Number(typed) : typed;
  }
  return typeof value === "boolean" ? typed === "true" : typed;
}

/** The settings that change while the server runs. */
export default function SettingsPage() {
  const text = useText();
  const intl = useIntl();
  const { api, account } = useSession();
  const [open, setOpen] = useState<ServerSetting | null>(null);
  const shown = ({ name }: ServerSetting, value: unknown) =>
    CHOICES[name] === undefined
      ? textOf(value).replaceAll("\n", ", ") || "–"
      : text(`admin.choice.${textOf(value)}` as MessageId);
  const query = useQuery({
    queryKey: [account.userId, "admin", "settings"],
    queryFn: () => listServerSettings(api),
    retry: false,
    staleTime: 0,
  });
  return (
    <div className="admin-page">
      <ErrorNotice error={query.error} />
      {query.isPending && <SettingsSkeleton />}
      <ul className="admin-settings" aria-label={text("admin.settings")}>
        {(query.data ?? [])
          .filter(({ name }) => !HAS_STEP.test(name))
          .map((setting) => (
            <li key={setting.name}>
              <span className="admin-name">
                <strong>{text(`admin.setting.${setting.name}` as MessageId)}</strong>
                <span dir="auto">{shown(setting, setting.value)}</span>
                {setting.changed_at !== null && (
                  <span>
                    {text("admin.setting.changed", {
                      moment: intl.formatDate(setting.changed_at, {
                        dateStyle: "medium",
                        timeStyle: "short",
                      }),
                      configured: shown(setting, setting.configured),
                    })}
                  </span>
                )}
              </span>
              <Button
                aria-label={text("admin.act.on", {
                  act: text("admin.setting.change"),
                  name: text(`admin.setting.${setting.name}` as MessageId),
                })}
                onPress={() => setOpen(setting)}
              >
                {text("admin.setting.change")}
              </Button>
            </li>
          ))}
      </ul>
      <p>
        <Link to="/setup/$stepId" params={{ stepId: "start" }}>
          {text("admin.setting.setup")}
        </Link>
      </p>
      {open !== null && <SettingDialog setting={open} onClose={() => setOpen(null)} />}
    </div>
  );
}

function SettingDialog({ setting, onClose }: { setting: ServerSetting; onClose: () => void }) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const [typed, setTyped] = useState(textOf(setting.value));
  const label = text(`admin.setting.${setting.name}` as MessageId);
  const choices = CHOICES[setting.name];
  const confirm = async (reason: string) => {
    const changed = await modifyServerSettings(api, { [setting.name]: valueOf(typed, setting) }, reason);
    client.setQueryData([account.userId, "admin", "settings"], changed);
  };
  return (
    <ReasonDialog title={text("admin.setting.change")} onConfirm={confirm} onClose={onClose}>
      {choices === undefined ? (
        <TextField
          label={label}
          value={typed}
          onChange={setTyped}
          multiline={Array.isArray(setting.value) || LONG_TEXTS.has(setting.name)}
          {...(Array.isArray(setting.value) && { hint: text("admin.setting.lines") })}
        />
      ) : (
        <Select
          label={label}
          value={typed}
          options={choices.map((choice) => [choice, text(`admin.choice.${choice}` as MessageId)] as const)}
          onChange={setTyped}
        />
      )}
    </ReasonDialog>
  );
}
