import { useSyncExternalStore } from "react";

/** Where the sidebar and the main part do not fit beside each other, as in shell.css. */
const NARROW = "(max-width: 719px)";

function subscribe(listener: () => void): () => void {
  const query = matchMedia(NARROW);
  query.addEventListener("change", listener);
  return () => query.removeEventListener("change", listener);
}

/** Whether the screen is narrow. */
export function useNarrow(): boolean {
  return useSyncExternalStore(subscribe, () => matchMedia(NARROW).matches);
}
