import { useNavigate } from "@tanstack/react-router";

import { leaveGuild } from "../../api/guilds";
import { useText } from "../../i18n/translate";
import type { GuildState } from "../../store/state";
import { Confirm } from "../session/Confirm";
import { useSession } from "../session/session";
import { expectLoss } from "./lost";

/** Leaves a guild after a question. */
export default function LeaveDialog({ guild, onClose }: { guild: GuildState; onClose: () => void }) {
  const text = useText();
  const { api } = useSession();
  const navigate = useNavigate();
  const leave = async () => {
    expectLoss(guild.id);
    await leaveGuild(api, guild.id);
    onClose();
    await navigate({ to: "/channels/@me" });
  };
  return (
    <Confirm
      title={text("guild.leave")}
      question={text("guild.leave.question", { name: guild.name })}
      confirm={text("guild.leave")}
      onConfirm={leave}
      onClose={onClose}
    />
  );
}
