import { useSyncExternalStore } from "react";

/** What is open over the screens: at most one of the dialogs. */
export interface Overlays {
  dialog: "switcher" | "palette" | "shortcuts" | "addGuild" | null;
  /** The events of a guild, or the one that a link leads to. */
  events: { guildId: string; eventId: string | null } | null;
  /** The link to another host that the user is asked about. */
  link: string | null;
}

const listeners = new Set<() => void>();
let current: Overlays = { dialog: null, events: null, link: null };

export function setOverlays(changes: Partial<Overlays>): void {
  current = { ...current, ...changes };
  for (const listener of listeners) {
    listener();
  }
}

export function getOverlays(): Overlays {
  return current;
}

export function useOverlays(): Overlays {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, getOverlays);
}
