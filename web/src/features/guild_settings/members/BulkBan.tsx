import { useState } from "react";

import { bulkBan, type BulkBanResult } from "../../../api/moderation";
import { useText } from "../../../i18n/translate";
import { Button } from "../../../ui/controls";
import { Dialog } from "../../../ui/Dialog";
import { TextField } from "../../../ui/TextField";
import { Select } from "../../../ui/Select";
import { useSession } from "../../session/session";
import { Confirm } from "../../session/Confirm";

const DAY_SECONDS = 86_400;

interface BulkBanProps {
  guildId: string;
  userIds: readonly string[];
  /** Called once they are banned. */
  onDone: () => void;
  onClose: () => void;
}

/** Bans several members at once, and tells how many could not be banned. */
export function BulkBan({ guildId, userIds, onDone, onClose }: BulkBanProps) {
  const text = useText();
  const { api } = useSession();
  const [ids] = useState(userIds);
  const [reason, setReason] = useState("");
  const [seconds, setSeconds] = useState("0");
  const [result, setResult] = useState<BulkBanResult | null>(null);
  const title = text("guildSettings.members.bulkBan.title", { count: ids.length });
  if (result !== null) {
    return (
      <Dialog title={title} onClose={onClose}>
        <p role="status">
          {text("guildSettings.members.bulkBan.result", {
            banned: result.banned_users.length,
            failed: result.failed_users.length,
          })}
        </p>
        <div className="dialog-actions">
          <Button onPress={onClose}>{text("common.close")}</Button>
        </div>
      </Dialog>
    );
  }
  const ban = async () => {
    const options = { reason, deleteMessageSeconds: Number(seconds) };
    setResult(await bulkBan(api, guildId, ids, options));
  };
  return (
    <Confirm
      title={title}
      question={text("permission.BanMembers.hint")}
      confirm={text("member.ban")}
      onConfirm={ban}
      onClose={onClose}
      onDone={onDone}
    >
      <Select
        label={text("member.ban.deleteMessages")}
        value={seconds}
        options={[
          ["0", text("member.ban.deleteMessages.none")],
          [String(DAY_SECONDS), text("member.ban.deleteMessages.day")],
          [String(7 * DAY_SECONDS), text("member.ban.deleteMessages.week")],
        ]}
        onChange={setSeconds}
      />
      <TextField label={text("member.reason")} value={reason} onChange={setReason} maxLength={512} />
    </Confirm>
  );
}
