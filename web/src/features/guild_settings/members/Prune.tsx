import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { countPrune, prune } from "../../../api/moderation";
import { useText } from "../../../i18n/translate";
import type { GuildState } from "../../../store/state";
import { TextField } from "../../../ui/TextField";
import { Picker } from "../../../ui/Picker";
import { NumberField } from "../../../ui/NumberField";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useSession } from "../../session/session";
import { Confirm } from "../../session/Confirm";
import { roleOptions } from "../../members/roleOptions";

/** Removes members who have not been here for days, after showing how many. */
export function Prune({ guild, onClose }: { guild: GuildState; onClose: () => void }) {
  const text = useText();
  const { api, account } = useSession();
  const [days, setDays] = useState(30);
  const [roleIds, setRoleIds] = useState<readonly string[]>([]);
  const [reason, setReason] = useState("");
  const estimate = useQuery({
    queryKey: [account.userId, "guild", guild.id, "prune", days, roleIds],
    queryFn: () => countPrune(api, guild.id, { days, roleIds }),
    retry: false,
    staleTime: 0,
  });
  return (
    <Confirm
      title={text("guildSettings.members.prune")}
      question={text("guildSettings.members.prune.hint")}
      confirm={text("guildSettings.members.prune.confirm")}
      isDisabled={(estimate.data ?? 0) === 0}
      onConfirm={() => prune(api, guild.id, { days, roleIds }, reason)}
      onClose={onClose}
    >
      <NumberField
        label={text("guildSettings.members.prune.days")}
        value={days}
        min={1}
        max={30}
        onChange={setDays}
      />
      <Picker
        label={text("guildSettings.members.prune.roles")}
        options={roleOptions(guild)}
        value={roleIds}
        onChange={setRoleIds}
      />
      <TextField label={text("member.reason")} value={reason} onChange={setReason} maxLength={512} />
      <ErrorNotice error={estimate.error} />
      <p role="status" className="notice">
        {estimate.data === undefined
          ? text("app.loading")
          : text("guildSettings.members.prune.estimate", { count: estimate.data })}
      </p>
    </Confirm>
  );
}
