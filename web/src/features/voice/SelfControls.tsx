import { Link } from "@tanstack/react-router";
import { HeadphoneOff, Headphones, Mic, MicOff, Settings } from "lucide-react";

import { useText } from "../../i18n/translate";
import { IconButton } from "../../ui/controls";
import { toggleSelfDeaf, toggleSelfMute } from "../../voice/status";
import { useKeyHint } from "../keybinds/Keys";
import { useSelf, useVoice } from "./useVoice";
import { VideoButtons } from "./VideoButtons";

/** Muting and deafening oneself, the camera and the screen. */
export function SelfControls({ guildId }: { guildId: string }) {
  const text = useText();
  const { muted, deafened } = useSelf(useVoice(guildId));
  return (
    <div className="voice-bar-row">
      <IconButton
        label={text(muted ? "voice.unmute" : "voice.mute")}
        keys={useKeyHint("mute")}
        onPress={toggleSelfMute}
      >
        {muted ? <MicOff size={18} /> : <Mic size={18} />}
      </IconButton>
      <IconButton
        label={text(deafened ? "voice.undeafen" : "voice.deafen")}
        keys={useKeyHint("deafen")}
        onPress={toggleSelfDeaf}
      >
        {deafened ? <HeadphoneOff size={18} /> : <Headphones size={18} />}
      </IconButton>
      <VideoButtons guildId={guildId} />
      <Link
        className="icon-button"
        aria-label={text("voice.settings")}
        to="/app/settings/{-$sectionId}"
        params={{ sectionId: "voice" }}
      >
        <Settings size={18} aria-hidden="true" />
      </Link>
    </div>
  );
}
