import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import {
  listRetentionRules,
  setRetentionRule,
  type RetentionRule,
  type RuleScope,
} from "../../api/operations";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { useSession } from "../session/session";
import { LegalHolds } from "./LegalHolds";
import { ReasonDialog } from "./ReasonDialog";
import { Rows } from "./Rows";

const COLUMNS = ["admin.rule.scope", "admin.rule.what", "admin.acts"] as const;
const SCOPES = ["instance", "guild", "channel"] as const;

/** After how many days messages are deleted, and what is kept all the same. */
export default function Retention() {
  const text = useText();
  const { api, account } = useSession();
  const [open, setOpen] = useState<RetentionRule | "new" | null>(null);
  const query = useQuery({
    queryKey: [account.userId, "admin", "retention"],
    queryFn: () => listRetentionRules(api),
    retry: false,
    staleTime: 0,
  });
  return (
    <div className="admin-page">
      <p>{text("admin.rules.what")}</p>
      <div className="admin-bar">
        <Button onPress={() => setOpen("new")}>{text("admin.rule.set")}</Button>
      </div>
      <Rows
        label="admin.rules"
        columns={COLUMNS}
        query={query}
        rows={query.data ?? []}
        keyOf={({ scope, target_id }) => `${scope} ${target_id ?? ""}`}
        cells={(rule) => [
          <span key="scope" className="admin-name">
            <strong>{text(`admin.scope.${rule.scope}`)}</strong>
            <span>{rule.target_id}</span>
          </span>,
          <span key="what" className="admin-name">
            {rule.message_days !== null && (
              <span>{text("admin.rule.messages", { days: rule.message_days })}</span>
            )}
            {rule.large_file_days !== null && (
              <span>
                {text("admin.rule.files", {
                  days: rule.large_file_days,
                  megabytes: rule.large_file_mb ?? 0,
                })}
              </span>
            )}
          </span>,
          <Button
            key="change"
            aria-label={text("admin.act.on", {
              act: text("admin.setting.change"),
              name: rule.target_id ?? text("admin.scope.instance"),
            })}
            onPress={() => setOpen(rule)}
          >
            {text("admin.setting.change")}
          </Button>,
        ]}
      />
      <LegalHolds />
      {open !== null && <RuleDialog rule={open === "new" ? null : open} onClose={() => setOpen(null)} />}
    </div>
  );
}

/** A number of a field that may be empty. */
function numberOf(typed: string): number | null {
  return typed.trim() === "" ? null : Number(typed);
}

function RuleDialog({ rule, onClose }: { rule: RetentionRule | null; onClose: () => void }) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const [scope, setScope] = useState<RuleScope>(rule?.scope ?? "instance");
  const [target, setTarget] = useState(rule?.target_id ?? "");
  const [days, setDays] = useState(String(rule?.message_days ?? ""));
  const [megabytes, setMegabytes] = useState(String(rule?.large_file_mb ?? ""));
  const [fileDays, setFileDays] = useState(String(rule?.large_file_days ?? ""));
  const numbers = [days, megabytes, fileDays];
  const confirm = async (reason: string) => {
    const body = {
      scope,
      target_id: scope === "instance" ? null : target.trim(),
      message_days: numberOf(days),
      large_file_mb: numberOf(megabytes),
      large_file_days: numberOf(fileDays),
    };
    await setRetentionRule(api, body, reason);
    await client.invalidateQueries({ queryKey: [account.userId, "admin", "retention"] });
  };
  return (
    <ReasonDialog
      title={text("admin.rule.set")}
      kind="danger"
      isDisabled={
        numbers.some((typed) => !/^\s*\d*\s*$/.test(typed)) || (scope !== "instance" && target.trim() === "")
      }
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{text("admin.rule.set.what")}</p>
      <Select
        label={text("admin.rule.scope")}
        value={scope}
        options={SCOPES.map((each) => [each, text(`admin.scope.${each}`)] as const)}
        onChange={setScope}
        isDisabled={rule !== null}
      />
      {scope !== "instance" && (
        <TextField
          label={text("admin.scope.id")}
          value={target}
          onChange={setTarget}
          isReadOnly={rule !== null}
        />
      )}
      <TextField
        label={text("admin.rule.message_days")}
        hint={text("admin.rule.empty")}
        value={days}
        onChange={setDays}
      />
      <TextField label={text("admin.rule.large_file_mb")} value={megabytes} onChange={setMegabytes} />
      <TextField label={text("admin.rule.large_file_days")} value={fileDays} onChange={setFileDays} />
    </ReasonDialog>
  );
}
