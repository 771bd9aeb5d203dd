import type { APIGuildMember } from "discord-api-types/v10";

import type { Part } from "../../i18n/messages";
import { WithTexts } from "../../i18n/translate";
import type { GuildState } from "../../store/state";
import { EditMember } from "./EditMember";
import { TimeOut } from "./TimeOut";

const PARTS: readonly Part[] = ["guild_settings", "permissions"];

interface MemberDialogProps {
  kind: "edit" | "timeout";
  guild: GuildState;
  member: APIGuildMember;
  onClose: () => void;
}

/** A dialog of the guild's settings about one member, wherever the member is shown. */
export default function MemberDialog({ kind, ...props }: MemberDialogProps) {
  return (
    <WithTexts parts={PARTS}>
      {kind === "edit" ? <EditMember {...props} /> : <TimeOut {...props} guildId={props.guild.id} />}
    </WithTexts>
  );
}
