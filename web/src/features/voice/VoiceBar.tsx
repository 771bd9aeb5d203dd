import { readReturn } from "../../voice/returning";
import { ownVoiceState } from "../../store/voice";
import { useAppState, useSession } from "../session/session";
import { ConnectedBar, VoiceHost } from "./preload";
import { useVoiceStatus } from "./useVoiceStatus";

/** Where the user is connected to a voice channel, or was before the page was loaded again: on every screen. */
export function VoiceBar() {
  const { userId } = useSession().account;
  const isConnected = useAppState((state) => ownVoiceState(state) !== null);
  const isReturning = useVoiceStatus((status) => status.phase !== null);
  return isConnected || isReturning || readReturn(userId) !== null ? <ConnectedBar /> : null;
}

/** Carries the sound of the account from its first voice channel on; shows nothing. */
export function VoiceCarrier() {
  const isConnected = useAppState((state) => ownVoiceState(state)?.voice.session_id === state.sessionId);
  const hasBegun = useVoiceStatus((status) => status.phase !== null);
  return isConnected || hasBegun ? <VoiceHost /> : null;
}
