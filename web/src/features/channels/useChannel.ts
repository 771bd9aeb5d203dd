import type { APIChannel } from "discord-api-types/v10";
import { useEffect, useRef, useState } from "react";

import { getChannel } from "../../api/channels";
import { guildIdOf, isThread } from "../../store/channels";
import { putThread } from "../../store/threads";
import { useAppState, useSession } from "../session/session";

/** A channel of a guild. Archived threads are loaded when they are opened; null for a channel that cannot be viewed. */
export function useChannel(guildId: string, channelId: string | null): APIChannel | undefined | null {
  const { api, store } = useSession();
  const channel = useAppState((state) => (channelId === null ? undefined : state.channels[channelId]));
  const ready = useAppState((state) => !state.loadingGuilds.includes(guildId));
  const [missingId, setMissingId] = useState<string | null>(null);
  const knownId = useRef<string | null>(null);
  useEffect(() => {
    if (!ready) {
      knownId.current = null;
    } else if (channel !== undefined) {
      knownId.current = channel.id;
    }
  }, [ready, channel]);
  const isUnknown = channelId !== null && channel === undefined && ready;
  useEffect(() => {
    if (isUnknown && knownId.current === channelId) {
      // It was deleted, or the user has left it.

      setMissingId(channelId);
    } else if (isUnknown) {
      getChannel(api, channelId).then(
        (loaded) => {
          if (isThread(loaded) && guildIdOf(loaded) === guildId) {
            store.update((state) => putThread(state, loaded));
          } else {
            setMissingId(channelId);
          }
        },
        () => setMissingId(channelId),
      );
    }
  }, [api, store, guildId, channelId, isUnknown]);
  return channel ?? (missingId === channelId ? null : undefined);
}
