import type { GatewayVoiceState } from "discord-api-types/v10";

import { getVoiceStatus } from "../../voice/status";
import { rememberReturn } from "../../voice/returning";
import { useAppState, useSession } from "../session/session";
import { useVoiceStatus } from "./useVoiceStatus";

export interface Voice {
  /** The user's voice state in the guild, on whatever device. */
  own: GatewayVoiceState | undefined;
  /** Whether this page is the device that is connected. */
  isHere: boolean;
  join: (channelId: string) => void;
  leave: () => void;
}

/** The user's presence in the voice channels of a guild, or in the call of a channel, which others are told of. */
export function useVoice(guildId: string): Voice {
  const { gateway, account } = useSession();
  const own = useAppState((state) => state.voiceStates[guildId]?.[state.user?.id ?? ""]);
  const isHere = useAppState((state) => own !== undefined && own.session_id === state.sessionId);
  const send = (channelId: string | null) => {
    const { selfMute, selfDeaf } = getVoiceStatus();
    gateway.send({
      type: "voice",
      data: {
        // Who leaves a call names no channel at all.
        guild_id: own?.channel_id === guildId || channelId === guildId ? null : guildId,
        channel_id: channelId,
        self_mute: selfMute,
        self_deaf: selfDeaf,
        self_video: false,
      },
    });
  };
  return {
    own,
    isHere,
    join: send,
    leave: () => {
      rememberReturn(account.userId, null);
      send(null);
    },
  };
}

/** Whether the user has muted or deafened themselves: as chosen here, else as on the device that is connected. */
export function useSelf({ own, isHere }: Pick<Voice, "own" | "isHere">): {
  muted: boolean;
  deafened: boolean;
} {
  const selfMute = useVoiceStatus((status) => status.selfMute);
  const selfDeaf = useVoiceStatus((status) => status.selfDeaf);
  return isHere || own === undefined
    ? { muted: selfMute || selfDeaf, deafened: selfDeaf }
    : { muted: own.self_mute || own.self_deaf, deafened: own.self_deaf };
}
