import { getCallEligibility, ring } from "../../api/calls";
import type { Session } from "../session/session";

/** How long the gateway has to announce the call. */
const START_MS = 10_000;

/** Start a call in a channel and ring the others; false where the user may not. Raises ApiError, NetworkError. */
export async function startCall(
  { api, store }: Pick<Session, "api" | "store">,
  channelId: string,
  join: () => void,
): Promise<boolean> {
  const { ringable } = await getCallEligibility(api, channelId);
  if (!ringable) {
    return false;
  }
  const isIn = () => store.state.voiceStates[channelId]?.[store.state.user?.id ?? ""] !== undefined;
  const begun = new Promise<boolean>((resolve) => {
    const unsubscribe = store.subscribe(() => {
      if (isIn()) {
        end(true);
      }
    });
    const timer = setTimeout(() => end(false), START_MS);
    const end = (hasBegun: boolean) => {
      clearTimeout(timer);
      unsubscribe();
      resolve(hasBegun);
    };
  });
  join();
  const hasBegun = await begun;
  if (hasBegun) {
    await ring(api, channelId);
  }
  return hasBegun;
}
