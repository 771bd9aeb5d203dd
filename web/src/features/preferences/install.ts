/** Installing the client as an app of the device, where the browser offers it. */
import { useSyncExternalStore } from "react";

/** The event by which a browser offers it. */
interface InstallEvent extends Event {
  prompt: () => Promise<unknown>;
}

const listeners = new Set<() => void>();
let offer: InstallEvent | null = null;

function set(next: InstallEvent | null): void {
  offer = next;
  for (const listener of listeners) {
    listener();
  }
}

/** Keep the browser's offer for the moment in which the user asks for it, instead of a bar that comes by itself. */
export function awaitInstallOffer(target: EventTarget = window): void {
  target.addEventListener("beforeinstallprompt", (event) => {
    event.preventDefault();
    set(event as InstallEvent);
  });
  target.addEventListener("appinstalled", () => set(null));
}

/** Whether the browser offers it now. */
export function canInstall(): boolean {
  return offer !== null;
}

export function useCanInstall(): boolean {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, canInstall);
}

/** Let the browser ask the user; each offer is good for one question. */
export async function install(): Promise<void> {
  const asked = offer;
  set(null);
  await asked?.prompt();
}
