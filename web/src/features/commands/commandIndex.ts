import { useEffect, useState } from "react";

import { getCommandIndex, type CommandIndex } from "../../api/commands";
import { useSession, type Session } from "../session/session";

/** After this time the commands of a channel are requested again. */
const FRESH_MS = 30_000;

interface CachedIndex {
  at: number;
  index: Promise<CommandIndex>;
}

const cache = new WeakMap<Session, Map<string, CachedIndex>>();

/** The commands that can be used in a channel; requested at most twice a minute. */
export function loadCommandIndex(session: Session, channelId: string): Promise<CommandIndex> {
  let ofSession = cache.get(session);
  if (ofSession === undefined) {
    ofSession = new Map();
    cache.set(session, ofSession);
  }
  const cached = ofSession.get(channelId);
  if (cached !== undefined && Date.now() - cached.at < FRESH_MS) {
    return cached.index;
  }
  const index = getCommandIndex(session.api, channelId);
  const entry = { at: Date.now(), index };
  ofSession.set(channelId, entry);
  index.catch(() => ofSession.delete(channelId));
  return index;
}

export interface CommandIndexState {
  index: CommandIndex | null;
  failed: boolean;
}

const LOADING: CommandIndexState = { index: null, failed: false };

/** The commands of a channel, loaded while `enabled`. */
export function useCommandIndex(channelId: string, enabled: boolean): CommandIndexState {
  const session = useSession();
  const [state, setState] = useState<CommandIndexState>(LOADING);
  useEffect(() => {
    if (!enabled) {
      return undefined;
    }
    let current = true;
    loadCommandIndex(session, channelId).then(
      (index) => current && setState({ index, failed: false }),
      () => current && setState({ index: null, failed: true }),
    );
    return () => {
      current = false;
    };
  }, [session, channelId, enabled]);
  return state;
}
