import { useSyncExternalStore } from "react";

import { getVoiceStatus, subscribeVoiceStatus, type VoiceStatus } from "../../voice/status";

/** Read a part of how the sound of this page is doing. `select` must return the same object for the same status. */
export function useVoiceStatus<T>(select: (status: VoiceStatus) => T): T {
  return useSyncExternalStore(subscribeVoiceStatus, () => select(getVoiceStatus()));
}
