import { useEffect, useState } from "react";

import { listDiscoverableGuilds } from "../../api/discovery";
import { useAppState, useSession } from "../session/session";

/** Whether there is any guild to discover: asked once, when all else is there. */
export function useDiscovery(): boolean {
  const { api } = useSession();
  const ready = useAppState((state) => state.ready);
  const [isOffered, setOffered] = useState(false);
  useEffect(() => {
    if (!ready) {
      return undefined;
    }
    let isCurrent = true;
    listDiscoverableGuilds(api, { limit: 1 }).then(
      ({ total }) => {
        if (isCurrent) {
          setOffered(total > 0);
        }
      },
      // Without an answer there is nothing to offer.
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [api, ready]);
  return isOffered;
}
