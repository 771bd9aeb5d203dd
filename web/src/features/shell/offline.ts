import { trustedScript } from "../../gateway/trustedScripts";

const WORKER = "/app/service-worker.js";
/** After loading the page, it has more to do and to load for a moment: the first guild, its messages and members. */
const KEEP_DELAY_MS = 3000;

/** Let the browser keep the client's files soon after the page is loaded, so that it opens without a network. */
export function keepShell(): void {
  // The development server has no build to keep.
  if (!import.meta.env.PROD || !("serviceWorker" in navigator)) {
    return;
  }
  const register = () => {
    // Some browsers refuse in private windows, and all do over plain HTTP: the client works without it.
    navigator.serviceWorker
      .register(trustedScript(WORKER), { scope: "/", updateViaCache: "none" })
      .catch(() => undefined);
  };
  globalThis.addEventListener("load", () => setTimeout(register, KEEP_DELAY_MS));
}

const RELOADED = "moothall.reloaded";
const RELOAD_PAUSE_MS = 60_000;
const ASK_EVERY_MS = 2000;

/**
 * Load the page anew once the server answers, which leads to the files of its present build. Gives up, with false, if
 * that has been done within a minute: then the page is not the reason.
 */
export async function reloadFromServer(signal: AbortSignal): Promise<boolean> {
  if (Date.now() - Number(sessionStorage.getItem(RELOADED)) < RELOAD_PAUSE_MS) {
    return false;
  }
  while (!signal.aborted) {
    const response = await fetch("/app/", { cache: "no-store", signal }).catch(() => null);
    if (response?.ok) {
      sessionStorage.setItem(RELOADED, String(Date.now()));
      location.reload();
      return true;
    }
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
  return true;
}
