import { CloudOff } from "lucide-react";
import { useState } from "react";

import { Translate } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { useAppState, useSession } from "../session/session";

/** What shows until the account's guilds are there: that they are loaded, or that the server cannot be reached. */
export function Opening() {
  const { gateway } = useSession();
  const status = useAppState((state) => state.status);
  const [isOffline, setIsOffline] = useState(false);
  // A further attempt is no news until it succeeds.
  if (status === "waiting" && !isOffline) {
    setIsOffline(true);
  }
  return (
    <main id="main" className="page" aria-busy={!isOffline}>
      {isOffline ? (
        <div className="opening" role="status">
          <CloudOff size={40} aria-hidden />
          <h1>
            <Translate id="app.offline.title" />
          </h1>
          <p>
            <Translate id="app.offline.text" />
          </p>
          <Button onPress={() => gateway.retry()}>
            <Translate id={status === "connecting" ? "app.reconnecting" : "app.offline.retry"} />
          </Button>
        </div>
      ) : (
        <Translate id="app.loading" />
      )}
    </main>
  );
}
