/** The guilds that the account is no longer in without having left them in this window, to be told of. */
import { useEffect, useSyncExternalStore } from "react";

import { useSession } from "../session/session";
import { lostIds } from "./lostIds";

export interface LostGuild {
  id: string;
  name: string;
}

const expected = new Set<string>();
const listeners = new Set<() => void>();
let lost: readonly LostGuild[] = [];

function set(next: readonly LostGuild[]): void {
  lost = next;
  for (const listener of listeners) {
    listener();
  }
}

/** Say that the user leaves or deletes a guild, which is no news then. */
export function expectLoss(guildId: string): void {
  expected.add(guildId);
}

export function dismissLoss(guildId: string): void {
  set(lost.filter(({ id }) => id !== guildId));
}

/** The guilds that were lost while this window was open, until they are dismissed. */
export function useLostGuilds(): readonly LostGuild[] {
  const { store } = useSession();
  useEffect(() => {
    let before = store.state.guilds;
    const stop = store.observe((event, data) => {
      for (const id of lostIds(event, data, Object.keys(before))) {
        if (!expected.delete(id)) {
          set([...lost.filter((each) => each.id !== id), { id, name: before[id]?.name ?? "" }]);
        }
      }
      before = store.state.guilds;
    });
    return () => {
      stop();
      set([]);
    };
  }, [store]);
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => lost,
  );
}
