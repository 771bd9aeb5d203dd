import { useState } from "react";
import { Form } from "react-aria-components";

import { banUser, kickMember } from "../../api/guilds";
import { useText } from "../../i18n/translate";
import { DialogFooter } from "../../ui/DialogFooter";
import { Dialog } from "../../ui/Dialog";
import { TextField } from "../../ui/TextField";
import { Select } from "../../ui/Select";
import { ErrorNotice } from "../session/ErrorNotice";
import { useSession } from "../session/session";
import { useAction } from "../session/useAction";

const DAY_SECONDS = "86400";
const WEEK_SECONDS = "604800";

interface RemoveMemberProps {
  kind: "kick" | "ban";
  guildId: string;
  userId: string;
  name: string;
  onClose: () => void;
}

/** Kicks or bans a member, with a reason for the audit log. */
export function RemoveMember({ kind, guildId, userId, name, onClose }: RemoveMemberProps) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const [reason, setReason] = useState("");
  const [seconds, setSeconds] = useState("0");
  const submit = async () => {
    const removed = await action.run(() =>
      kind === "kick"
        ? kickMember(api, guildId, userId, reason)
        : banUser(api, guildId, userId, { reason, deleteMessageSeconds: Number(seconds) }),
    );
    if (removed) {
      onClose();
    }
  };
  return (
    <Dialog
      title={text(kind === "kick" ? "member.kick.title" : "member.ban.title", { name })}
      onClose={onClose}
    >
      <Form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <TextField
          label={text("member.reason")}
          value={reason}
          onChange={setReason}
          maxLength={512}
          autoFocus
        />
        {kind === "ban" && (
          <Select
            label={text("member.ban.deleteMessages")}
            value={seconds}
            options={[
              ["0", text("member.ban.deleteMessages.none")],
              [DAY_SECONDS, text("member.ban.deleteMessages.day")],
              [WEEK_SECONDS, text("member.ban.deleteMessages.week")],
            ]}
            onChange={setSeconds}
          />
        )}
        <ErrorNotice error={action.error} />
        <DialogFooter
          confirm={text(kind === "kick" ? "member.kick" : "member.ban")}
          kind="danger"
          isDisabled={action.pending}
          onCancel={onClose}
        />
      </Form>
    </Dialog>
  );
}
