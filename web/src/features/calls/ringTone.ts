import { playRing } from "../../voice/cues";
import { getPreferences } from "../preferences/preferences";

const EVERY_MS = 2_500;

/** Ring until the returned function is called. Browsers play nothing before the page was first used. */
export function startRinging(): () => void {
  const context = new AudioContext();
  const ring = () => {
    // What is scheduled while the context sleeps would all be heard at once later.
    if (context.state === "running") {
      playRing(context);
    } else {
      void context.resume().catch(() => undefined);
    }
  };
  ring();
  const timer = setInterval(ring, EVERY_MS);
  return () => {
    clearInterval(timer);
    void context.close();
  };
}

/** Tell of a call while the page is in the background, until the returned function is called. */
export function notifyOfCall(channelId: string, title: string): () => void {
  const isAllowed = "Notification" in globalThis && Notification.permission === "granted";
  const isSeen = document.visibilityState === "visible" && document.hasFocus();
  if (!isAllowed || isSeen || !getPreferences().notifications) {
    return () => undefined;
  }
  const notification = new Notification(title, { tag: `call ${channelId}`, requireInteraction: true });
  notification.onclick = () => {
    window.focus();
    notification.close();
  };
  return () => notification.close();
}
