import { useQueryClient } from "@tanstack/react-query";

import { getGuild, modifyMfaLevel } from "../../api/guild_settings";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { useGuildQuery } from "./queries";

/** Whether moderators need two-factor authentication, which an owner who has it decides. */
export function MfaLevel({ guildId }: { guildId: string }) {
  const text = useText();
  const { api, account } = useSession();
  const client = useQueryClient();
  const action = useAction();
  const guild = useGuildQuery(guildId, "guild", getGuild).data;
  const hasFactor = useAppState((state) => state.user?.mfa_enabled === true);
  if (guild === undefined) {
    return null;
  }
  const isDemanded = (guild.mfa_level as number) === 1;
  const change = async () => {
    const { level } = await modifyMfaLevel(api, guildId, isDemanded ? 0 : 1);
    client.setQueryData([account.userId, "guild", guildId, "guild"], { ...guild, mfa_level: level });
  };
  return (
    <>
      <div className="settings-row">
        <span className="settings-row-text">
          <strong>{text("guildSettings.mfa")}</strong>
          <span>{text(hasFactor ? "guildSettings.mfa.hint" : "guildSettings.mfa.missing")}</span>
        </span>
        <Button isDisabled={!hasFactor || action.pending} onPress={() => void action.run(change)}>
          {text(isDemanded ? "guildSettings.mfa.end" : "guildSettings.mfa.demand")}
        </Button>
      </div>
      <ErrorNotice error={action.error} />
    </>
  );
}
