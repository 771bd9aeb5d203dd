import { Link } from "@tanstack/react-router";
import { PhoneOff, Volume2 } from "lucide-react";

import { useText } from "../../i18n/translate";
import { channelName } from "../../store/selectors";
import { IconButton } from "../../ui/controls";
import { useAppState } from "../session/session";
import { useSounds } from "./useSounds";
import { useVoice } from "./useVoice";
import "./voice.css";

/** Where the user is connected to a voice channel, on every screen. */
export function VoiceBar() {
  const guildId = useAppState((state) => {
    const userId = state.user?.id ?? "";
    return Object.keys(state.voiceStates).find((id) => state.voiceStates[id]?.[userId] !== undefined);
  });
  return guildId === undefined ? null : <Connected guildId={guildId} />;
}

function Connected({ guildId }: { guildId: string }) {
  const text = useText();
  const { own, leave } = useVoice(guildId);
  useSounds(guildId);
  const channelId = own?.channel_id ?? "";
  const name = useAppState((state) => {
    const channel = state.channels[channelId];
    return channel === undefined ? "" : channelName(state, channel);
  });
  return (
    <div className="voice-bar" role="status">
      <Volume2 size={16} aria-hidden="true" />
      <Link to="/channels/$guildId/$channelId" params={{ guildId, channelId }}>
        {text("voice.connected", { name })}
      </Link>
      <IconButton label={text("voice.leave")} onPress={leave}>
        <PhoneOff size={16} />
      </IconButton>
    </div>
  );
}
