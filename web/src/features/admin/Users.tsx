import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Input, Label, SearchField } from "react-aria-components";
import { useIntl } from "react-intl";

import {
  actOnUser,
  createResetLink,
  deleteUser,
  listUsers,
  type AdministeredUser,
  type UserState,
  type UserAct,
} from "../../api/admin";
import type { ApiClient } from "../../api/client";
import type { MessageId } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { Select } from "../../ui/Select";
import { TextField } from "../../ui/TextField";
import { useSession } from "../session/session";
import { usePages } from "./pages";
import { ReasonDialog } from "./ReasonDialog";
import { Rows } from "./Rows";

type StateFilter = UserState | "unverified" | "";
const STATES: readonly StateFilter[] = ["", "active", "pending", "suspended", "closed", "unverified"];
const COLUMNS = [
  "admin.user.name",
  "admin.user.address",
  "admin.user.state",
  "admin.user.created",
  "admin.acts",
] as const;

type Act = UserAct | "reset" | "delete";

/** The acts that make sense for an account. */
function actsOf({ state }: AdministeredUser): Act[] {
  if (state === "suspended" || state === "closed") {
    return state === "suspended" ? ["restore", "delete"] : ["restore", "suspend"];
  }
  return state === "pending" ? ["approve", "delete"] : ["suspend", "log-out", "reset", "delete"];
}

const DANGEROUS: readonly Act[] = ["suspend", "delete"];

/** People's accounts: found by name, address and state, and what operators do to them. */
export default function Users() {
  const text = useText();
  const intl = useIntl();
  const [search, setSearch] = useState("");
  const [state, setState] = useState<StateFilter>("");
  const [open, setOpen] = useState<{ user: AdministeredUser; act: Act } | null>(null);
  const { query, rows } = usePages("users", { search, state }, listUsers, ({ id }) => id);
  return (
    <div className="admin-page">
      <div className="admin-bar">
        <SearchField className="field" value={search} onChange={setSearch}>
          <Label>{text("admin.user.search")}</Label>
          <Input dir="auto" />
        </SearchField>
        <Select
          label={text("admin.user.state")}
          value={state}
          options={STATES.map((each) => [each, text(`admin.state.${each || "any"}` as MessageId)] as const)}
          onChange={setState}
        />
      </div>
      <Rows
        label="admin.users"
        columns={COLUMNS}
        query={query}
        rows={rows}
        keyOf={({ id }) => id}
        cells={(user) => [
          <span key="name" className="admin-name" dir="auto">
            <strong>{user.global_name ?? user.username}</strong>
            <span>{user.username}</span>
          </span>,
          <span key="address" dir="auto">
            {user.email === null
              ? "–"
              : user.verified
                ? user.email
                : text("admin.user.unverified", { address: user.email })}
          </span>,
          <span key="state">
            {text(`admin.state.${user.state}`)}
            {user.deletes_at !== null && (
              <span className="admin-note">
                {text("admin.user.deletes", {
                  day: intl.formatDate(user.deletes_at, { dateStyle: "medium" }),
                })}
              </span>
            )}
          </span>,
          intl.formatDate(user.created_at, { dateStyle: "medium" }),
          <span key="acts" className="admin-acts">
            {actsOf(user).map((act) => (
              <Button
                key={act}
                aria-label={text("admin.act.on", { act: text(`admin.act.${act}`), name: user.username })}
                onPress={() => setOpen({ user, act })}
              >
                {text(`admin.act.${act}`)}
              </Button>
            ))}
          </span>,
        ]}
      />
      {open !== null && <ActDialog {...open} onClose={() => setOpen(null)} />}
    </div>
  );
}

function run(
  api: ApiClient,
  user: AdministeredUser,
  act: UserAct | "delete",
  reason: string,
): Promise<unknown> {
  return act === "delete" ? deleteUser(api, user.id, reason) : actOnUser(api, user.id, act, reason);
}

function ActDialog({ user, act, onClose }: { user: AdministeredUser; act: Act; onClose: () => void }) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const [link, setLink] = useState<string | null>(null);
  const confirm = async (reason: string) => {
    if (act === "reset") {
      setLink((await createResetLink(api, user.id, reason)).link);
      return;
    }
    await run(api, user, act, reason);
    await client.invalidateQueries({ queryKey: [account.userId, "admin"] });
  };
  if (link !== null) {
    return (
      <Dialog title={text("admin.act.reset")} onClose={onClose}>
        <div className="stack">
          <p>{text("admin.reset.pass_on", { name: user.username })}</p>
          <TextField label={text("admin.reset.link")} value={link} isReadOnly />
          <div className="dialog-actions">
            <Button onPress={onClose}>{text("common.close")}</Button>
          </div>
        </div>
      </Dialog>
    );
  }
  return (
    <ReasonDialog
      title={text(`admin.act.${act}`)}
      kind={DANGEROUS.includes(act) ? "danger" : "primary"}
      onConfirm={confirm}
      onClose={onClose}
      // The link shows in place of the form.
      onDone={act === "reset" ? () => undefined : onClose}
    >
      <p>{text(`admin.act.${act}.what`, { name: user.username })}</p>
    </ReasonDialog>
  );
}
