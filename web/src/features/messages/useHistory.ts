import { useCallback, useEffect, type RefObject } from "react";

import { useSession } from "../session/session";
import { loadAround, loadNewer, loadNewest, loadOlder } from "./history";

/** Pixels from an end of the list within which the next page is loaded. */
const LOAD_DISTANCE = 800;

/**
 * Loads the messages of a channel: the newest, or those around the one that its address names. Returns what loads the
 * page before or after, where the list is near to an end of what is loaded.
 */
export function useHistory(
  channelId: string,
  namedId: string | null,
  isLoaded: boolean,
  scrollerRef: RefObject<HTMLElement | null>,
): () => void {
  const session = useSession();
  useEffect(() => {
    const load = namedId === null ? loadNewest(session, channelId) : loadAround(session, channelId, namedId);
    load.catch(() => undefined);
    // A new session has dropped all messages: they are loaded again.
  }, [session, channelId, namedId, isLoaded]);

  return useCallback(() => {
    const element = scrollerRef.current;
    if (element === null) {
      return;
    }
    if (element.scrollTop < LOAD_DISTANCE) {
      loadOlder(session, channelId).catch(() => undefined);
    }
    if (element.scrollHeight - element.scrollTop - element.clientHeight < LOAD_DISTANCE) {
      loadNewer(session, channelId).catch(() => undefined);
    }
  }, [session, channelId, scrollerRef]);
}
