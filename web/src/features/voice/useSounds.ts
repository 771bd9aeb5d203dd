import { useEffect } from "react";

import { soundUrl } from "../../api/expressions";
import { useAppState } from "../session/session";

/** Older sounds are not played when the component appears. */
const MAX_AGE_MS = 4000;

/** Play the sounds of others and of the user in the voice channel that the user is in, unless they are deafened. */
export function useSounds(guildId: string): void {
  const effect = useAppState((state) => state.voiceEffect);
  const own = useAppState((state) => state.voiceStates[guildId]?.[state.user?.id ?? ""]);
  const isHeard = own !== undefined && !own.self_deaf && !own.deaf && effect?.channel_id === own.channel_id;
  useEffect(() => {
    if (effect?.sound_id === undefined || !isHeard || Date.now() - effect.at > MAX_AGE_MS) {
      return;
    }
    const audio = new Audio(soundUrl(effect.sound_id));
    audio.volume = Math.min(1, Math.max(0, effect.sound_volume ?? 1));
    // Browsers refuse before the page was first used.
    audio.play().catch(() => undefined);
    // A sound that has begun is played to its end.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [effect]);
}
