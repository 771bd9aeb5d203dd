import { lazy, Suspense } from "react";

import { setOverlays, useOverlays } from "./overlay";
import { useShortcuts } from "./useShortcuts";

const EventsDialog = lazy(() => import("../events/EventsDialog"));
const Switcher = lazy(async () => ({ default: (await import("../switcher/Switcher")).Switcher }));
const ShortcutList = lazy(async () => ({ default: (await import("./ShortcutList")).ShortcutList }));

/** The keys of the client, and the dialogs that they open. */
export function OverlayHost() {
  useShortcuts();
  const { dialog, events } = useOverlays();
  const close = () => setOverlays({ dialog: null });
  return (
    <Suspense>
      {dialog === "switcher" && <Switcher onClose={close} />}
      {events !== null && <EventsDialog {...events} onClose={() => setOverlays({ events: null })} />}
      {dialog === "shortcuts" && <ShortcutList onClose={close} />}
    </Suspense>
  );
}
