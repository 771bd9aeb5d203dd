import { Terminal, X } from "lucide-react";
import { useMemo } from "react";

import { Translate, useText } from "../../i18n/translate";
import { endInteraction } from "../../store/interactions";
import { IconButton } from "../../ui/controls";
import { useAppState, useSession } from "../session/session";
import "./commands.css";

/** The user's commands in a channel that have no response: being sent, or failed. */
export function PendingCommands({ channelId }: { channelId: string }) {
  const text = useText();
  const { store } = useSession();
  const interactions = useAppState((state) => state.interactions);
  const own = useMemo(
    () => Object.entries(interactions).filter(([, each]) => each.command?.channelId === channelId),
    [interactions, channelId],
  );
  return (
    <ul className="pending-commands" role="log" aria-label={text("command.pending.list")}>
      {own.map(([nonce, { command, failed, reason }]) => (
        <li key={nonce} className={failed ? "pending-command pending-command-failed" : "pending-command"}>
          <Terminal size={16} aria-hidden="true" />
          <span>
            <strong>{command?.name}</strong>{" "}
            {failed ? (
              (reason ?? <Translate id="command.failed" values={{ name: command?.applicationName ?? "" }} />)
            ) : (
              <Translate id="command.pending" values={{ name: command?.applicationName ?? "" }} />
            )}
          </span>
          {failed && (
            <IconButton
              label={text("command.dismiss")}
              onPress={() => store.update((state) => endInteraction(state, { nonce }))}
            >
              <X size={16} />
            </IconButton>
          )}
        </li>
      ))}
    </ul>
  );
}
