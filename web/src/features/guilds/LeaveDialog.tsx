import { useNavigate } from "@tanstack/react-router";

import { leaveGuild } from "../../api/guilds";
import { useText } from "../../i18n/translate";
import type { GuildState } from "../../store/state";
import { Button, Dialog } from "../../ui/controls";
import { useSession } from "../session/session";
import { useAction, useErrorText } from "../session/useAction";

/** Leaves a guild after a question. */
export default function LeaveDialog({ guild, onClose }: { guild: GuildState; onClose: () => void }) {
  const text = useText();
  const { api } = useSession();
  const navigate = useNavigate();
  const action = useAction();
  const errorText = useErrorText();
  const leave = async () => {
    await leaveGuild(api, guild.id);
    onClose();
    await navigate({ to: "/channels/@me" });
  };
  return (
    <Dialog title={text("guild.leave")} onClose={onClose}>
      <p>{text("guild.leave.question", { name: guild.name })}</p>
      {action.error !== null && (
        <p role="alert" className="notice notice-danger">
          {errorText(action.error)}
        </p>
      )}
      <div className="dialog-actions">
        <Button onPress={onClose}>{text("common.cancel")}</Button>
        <Button kind="danger" isDisabled={action.pending} onPress={() => void action.run(leave)}>
          {text("guild.leave")}
        </Button>
      </div>
    </Dialog>
  );
}
