import { CalendarDays } from "lucide-react";
import { Button as AriaButton } from "react-aria-components";

import { useText } from "../../i18n/translate";
import { useAppState } from "../session/session";
import { setOverlays } from "../overlays/overlays";

/** Opens the events of a guild from its channel list. */
export function EventsRow({ guildId }: { guildId: string }) {
  const text = useText();
  const count = useAppState(
    (state) => Object.values(state.scheduledEvents).filter((event) => event.guild_id === guildId).length,
  );
  return (
    <AriaButton
      className="channel-row events-row"
      onPress={() => setOverlays({ events: { guildId, eventId: null } })}
    >
      <CalendarDays size={18} className="channel-icon" aria-hidden="true" />
      <span className="channel-name">{text("guild.events")}</span>
      {count > 0 && <span className="events-count">{count}</span>}
    </AriaButton>
  );
}
