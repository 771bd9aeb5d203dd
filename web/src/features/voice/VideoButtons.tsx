import { MonitorUp, MonitorX, Video, VideoOff } from "lucide-react";
import { useState } from "react";

import { Permission } from "../../api/enums";
import { useText } from "../../i18n/translate";
import { has } from "../../store/permissions";
import { IconButton } from "../../ui/controls";
import { loaded } from "../../ui/loaded";
import { canShareScreen, canUseCamera } from "../../voice/capture";
import { activeVoiceClient } from "../../voice/client";
import { useAppState } from "../session/session";
import { useChannelPermissions } from "../session/usePermissions";
import { useVoice } from "./useVoice";
import { useVoiceStatus } from "./useVoiceStatus";

const ScreenDialog = loaded(() => import("./ScreenDialog"));

/** Turning the camera on and sharing the screen, for those who may and whose browser can. */
export function VideoButtons({ guildId }: { guildId: string }) {
  const text = useText();
  const { own, isHere } = useVoice(guildId);
  const channel = useAppState((state) => state.channels[own?.channel_id ?? ""]);
  const mayStream = has(useChannelPermissions(channel), Permission.Stream);
  const isConnected = useVoiceStatus((status) => status.phase === "connected");
  const camera = useVoiceStatus((status) => status.camera);
  const screen = useVoiceStatus((status) => status.screen);
  const [isChoosing, setChoosing] = useState(false);
  if (!isHere || !mayStream || own?.suppress === true) {
    return null;
  }
  return (
    <>
      {canUseCamera() && (
        <IconButton
          label={text(camera ? "voice.camera.stop" : "voice.camera.start")}
          isDisabled={!isConnected && !camera}
          onPress={() => activeVoiceClient()?.toggleCamera()}
        >
          {camera ? <Video size={18} className="voice-on" /> : <VideoOff size={18} />}
        </IconButton>
      )}
      {canShareScreen() && (
        <IconButton
          label={text(screen ? "voice.screen.stop" : "voice.screen.start")}
          isDisabled={!isConnected && !screen}
          onPress={() => (screen ? activeVoiceClient()?.toggleScreen() : setChoosing(true))}
        >
          {screen ? <MonitorX size={18} className="voice-on" /> : <MonitorUp size={18} />}
        </IconButton>
      )}
      {isChoosing && <ScreenDialog onClose={() => setChoosing(false)} />}
    </>
  );
}
