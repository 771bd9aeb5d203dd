import { useEffect } from "react";

import { endMutes, nextMuteEnd } from "../../store/settings";
import { useSession } from "../session/session";

/** Longer timers end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** The events that begin mutes, or bring those that others of the user's clients have begun. */
const EVENTS: ReadonlySet<string> = new Set([
  "READY",
  "GUILD_CREATE",
  "USER_GUILD_SETTINGS_UPDATE",
  "THREAD_CREATE",
  "THREAD_LIST_SYNC",
  "THREAD_MEMBER_UPDATE",
]);

/** Ends the user's mutes when their time is over, which no event announces. */
export function useMuteEnds(): void {
  const { store } = useSession();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const schedule = () => {
      clearTimeout(timer);
      const end = nextMuteEnd(store.state);
      if (end !== null) {
        const left = Math.max(0, end - Date.now());
        timer = setTimeout(
          () => {
            store.update((state) => endMutes(state, Date.now()));
            schedule();
          },
          Math.min(left, MAX_TIMER_MS),
        );
      }
    };
    schedule();
    const stop = store.observe((name) => EVENTS.has(name) && schedule());
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [store]);
}
