import type { APIGuildMember } from "discord-api-types/v10";
import { useState } from "react";

import { timeOutMember } from "../../api/guilds";
import { useText } from "../../i18n/translate";
import { TextField } from "../../ui/TextField";
import { Select } from "../../ui/Select";
import { useSession } from "../session/session";
import { Confirm } from "../session/Confirm";
import { memberName } from "./MemberField";

const LENGTHS = ["60", "300", "600", "3600", "86400", "604800", "2419200"] as const;

interface TimeOutProps {
  guildId: string;
  member: APIGuildMember;
  onClose: () => void;
}

/** Stops a member from writing and speaking for a while. */
export function TimeOut({ guildId, member, onClose }: TimeOutProps) {
  const text = useText();
  const { api } = useSession();
  const [length, setLength] = useState<(typeof LENGTHS)[number]>("600");
  const [reason, setReason] = useState("");
  return (
    <Confirm
      title={text("guildSettings.members.timeout.title", { name: memberName(member) })}
      question={text("permission.ModerateMembers.hint")}
      confirm={text("guildSettings.members.timeout")}
      onConfirm={() =>
        timeOutMember(
          api,
          guildId,
          member.user.id,
          new Date(Date.now() + Number(length) * 1000).toISOString(),
          reason,
        )
      }
      onClose={onClose}
    >
      <Select
        label={text("guildSettings.members.timeout.length")}
        value={length}
        options={LENGTHS.map((each) => [each, text(`guildSettings.members.timeout.${each}`)])}
        onChange={setLength}
      />
      <TextField label={text("member.reason")} value={reason} onChange={setReason} maxLength={512} />
    </Confirm>
  );
}
