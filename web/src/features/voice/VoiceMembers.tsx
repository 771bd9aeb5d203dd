import type { GatewayVoiceState } from "discord-api-types/v10";
import { HeadphoneOff, MicOff, Video } from "lucide-react";
import { useMemo } from "react";

import { useText } from "../../i18n/translate";
import { displayName } from "../../store/selectors";
import { MemberAvatar } from "../users/MemberAvatar";
import { useAppState } from "../session/session";
import { useVoiceStatus } from "./useVoiceStatus";
import "./voice.css";

/** The status of a voice channel and who is connected to it, in the channel list. */
export function VoiceMembers({ channelId, guildId }: { channelId: string; guildId: string }) {
  const states = useAppState((state) => state.voiceStates[guildId]);
  const status = useAppState((state) => state.voiceStatuses[channelId] ?? state.stages[channelId]?.topic);
  const connected = useMemo(
    () => Object.values(states ?? {}).filter((voice) => voice.channel_id === channelId),
    [states, channelId],
  );
  return (
    <>
      {status !== undefined && (
        <span className="channel-status" dir="auto">
          {status}
        </span>
      )}
      {connected.length > 0 && (
        <ul className="voice-members">
          {connected.map((voice) => (
            <VoiceMember key={voice.user_id} voice={voice} guildId={guildId} />
          ))}
        </ul>
      )}
    </>
  );
}

function VoiceMember({ voice, guildId }: { voice: GatewayVoiceState; guildId: string }) {
  const text = useText();
  const user = useAppState((state) => state.users[voice.user_id] ?? voice.member?.user);
  const name = useAppState((state) =>
    user === undefined ? voice.user_id : displayName(state, user, guildId),
  );
  const isSpeaking = useVoiceStatus((status) => status.speaking.has(voice.user_id));
  return (
    <li data-speaking={isSpeaking || undefined}>
      <MemberAvatar user={user} guildId={guildId} name={name} size={20} />
      <span className="voice-members-name" dir="auto">
        {name}
      </span>
      {voice.self_video && <Video size={14} aria-label={text("voice.camera")} />}
      {(voice.mute || voice.self_mute) && <MicOff size={14} aria-label={text("voice.muted")} />}
      {(voice.deaf || voice.self_deaf) && <HeadphoneOff size={14} aria-label={text("voice.deaf")} />}
    </li>
  );
}
