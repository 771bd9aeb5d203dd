import { trustedScript } from "../../gateway/trustedScripts";

const WORKER = "/app/service-worker.js";

/** Let the browser keep the client's files once the page is loaded, so that it opens without a network. */
export function keepShell(): void {
  // The development server has no build to keep.
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) {
    return;
  }
  globalThis.addEventListener("load", () => {
    // Some browsers refuse in private windows, and all do over plain HTTP: the client works without it.
    navigator.serviceWorker
      .register(trustedScript(WORKER), { scope: "/", updateViaCache: "none" })
      .catch(() => undefined);
  });
}

const RELOADED = "moothall.reloaded";
const RELOAD_PAUSE_MS = 60_000;

/** A new build of the server replaces the files of the old one: a screen whose file is gone needs the new page. */
export function followBuilds(): void {
  globalThis.addEventListener("vite:preloadError", (event) => {
    const before = Number(sessionStorage.getItem(RELOADED));
    if (navigator.onLine && Date.now() - before > RELOAD_PAUSE_MS) {
      event.preventDefault();
      sessionStorage.setItem(RELOADED, String(Date.now()));
      location.reload();
    }
  });
}
