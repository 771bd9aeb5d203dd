import { useEffect, type ReactNode } from "react";

import { loaded } from "../../ui/loaded";
import { preloadOverlays } from "../../ui/preload";
import { usePendingProof } from "../session/proofs";
import { useAppState } from "../session/session";
import { setOverlays, useOverlays } from "../overlays/overlays";
import { useShortcuts } from "./useShortcuts";

const LinkDialog = loaded(() => import("../links/LinkDialog"));
const EventsDialog = loaded(() => import("../events/EventsDialog"));
const ProofDialog = loaded(() => import("../session/ProofDialog"));
const ShortcutList = loaded(async () => ({ default: (await import("./ShortcutList")).ShortcutList }));

/** Draws the switcher, whose commands lead into screens above this folder. */
export type DrawPalette = (onlyCommands: boolean, onClose: () => void) => ReactNode;

/** Milliseconds after which what no first screen needs is loaded. */
const PRELOAD_MS = 2000;

/** The keys of the client, and the dialogs that they open. */
export function OverlayHost({ drawPalette }: { drawPalette: DrawPalette }) {
  useShortcuts();
  const isConnected = useAppState((state) => state.status === "connected");
  useEffect(() => {
    const timer = isConnected ? setTimeout(preloadOverlays, PRELOAD_MS) : undefined;
    return () => clearTimeout(timer);
  }, [isConnected]);
  const { dialog, events, link } = useOverlays();
  const proof = usePendingProof();
  const close = () => setOverlays({ dialog: null });
  return (
    <>
      {dialog === "switcher" && <>{drawPalette(false, close)}</>}
      {dialog === "palette" && <>{drawPalette(true, close)}</>}
      {events !== null && <EventsDialog {...events} onClose={() => setOverlays({ events: null })} />}
      {link !== null && <LinkDialog url={link} onClose={() => setOverlays({ link: null })} />}
      {proof !== null && <ProofDialog pending={proof} />}
      {dialog === "shortcuts" && <ShortcutList onClose={close} />}
    </>
  );
}
