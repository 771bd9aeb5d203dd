import { Link } from "@tanstack/react-router";
import type { APIGuildWelcomeScreen } from "discord-api-types/v10";

import { useText } from "../../i18n/translate";
import type { GuildState } from "../../store/state";
import { Button } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { useAppState } from "../session/session";
import { OptionEmoji } from "./Prompt";

interface WelcomeDialogProps {
  guild: GuildState;
  screen: APIGuildWelcomeScreen;
  onClose: () => void;
}

/** Greets a new member and shows them where to begin. */
export function WelcomeDialog({ guild, screen, onClose }: WelcomeDialogProps) {
  const text = useText();
  const channels = useAppState((state) => state.channels);
  return (
    <Dialog title={text("joining.welcome", { name: guild.name })} onClose={onClose}>
      {screen.description !== null && <p>{screen.description}</p>}
      <ul className="welcome-channels">
        {screen.welcome_channels.map((each) => {
          const channel = channels[each.channel_id];
          return (
            channel && (
              <li key={each.channel_id}>
                <Link
                  to="/channels/$guildId/$channelId"
                  params={{ guildId: guild.id, channelId: each.channel_id }}
                  onClick={onClose}
                >
                  <OptionEmoji emoji={{ id: each.emoji_id, name: each.emoji_name }} />
                  <span>
                    <strong>{each.description}</strong>
                    <br />
                    <span className="field-hint">#{"name" in channel ? channel.name : ""}</span>
                  </span>
                </Link>
              </li>
            )
          );
        })}
      </ul>
      <div className="dialog-actions">
        <Button kind="primary" onPress={onClose}>
          {text("joining.welcome.done")}
        </Button>
      </div>
    </Dialog>
  );
}
