import { TriangleAlert } from "lucide-react";
import { useEffect, useState } from "react";

import { Translate } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { isLoadError } from "../../ui/loadErrors";
import { reloadFromServer } from "./offline";

/**
 * What shows instead of a screen that failed. After an update of the server its files have other names: the page is
 * then loaded anew by itself, as soon as the server answers.
 */
export function Failure({ error }: { error: unknown }) {
  const isReloadable = isLoadError(error);
  const [reloads, setReloads] = useState(isReloadable);
  useEffect(() => {
    const abort = new AbortController();
    if (isReloadable) {
      void reloadFromServer(abort.signal).then(setReloads);
    }
    return () => abort.abort();
  }, [isReloadable]);
  return (
    <main id="main" className="page" aria-busy={reloads}>
      {reloads ? (
        <p role="status">
          <Translate id="app.updating" />
        </p>
      ) : (
        <div className="opening" role="alert">
          <TriangleAlert size={40} aria-hidden />
          <h1>
            <Translate id="app.failed.title" />
          </h1>
          <p>
            <Translate id="app.failed.text" />
          </p>
          <Button kind="primary" autoFocus onPress={() => location.reload()}>
            <Translate id="app.failed.reload" />
          </Button>
        </div>
      )}
    </main>
  );
}
