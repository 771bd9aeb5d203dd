import type { GatewayVoiceState } from "discord-api-types/v10";

import { useAppState, useSession } from "../session/session";

export interface Voice {
  /** The user's voice state in the guild, on whatever device. */
  own: GatewayVoiceState | undefined;
  join: (channelId: string) => void;
  leave: () => void;
  setSelf: (changes: { self_mute?: boolean; self_deaf?: boolean }) => void;
}

/** The user's presence in the voice channels of a guild, which the gateway announces to the others. */
export function useVoice(guildId: string): Voice {
  const { gateway } = useSession();
  const own = useAppState((state) => state.voiceStates[guildId]?.[state.user?.id ?? ""]);
  const send = (channelId: string | null, changes: { self_mute?: boolean; self_deaf?: boolean }) =>
    gateway.send({
      type: "voice",
      data: {
        guild_id: guildId,
        channel_id: channelId,
        self_mute: own?.self_mute ?? false,
        self_deaf: own?.self_deaf ?? false,
        ...changes,
      },
    });
  return {
    own,
    join: (channelId) => send(channelId, {}),
    leave: () => send(null, {}),
    setSelf: (changes) => send(own?.channel_id ?? null, changes),
  };
}
