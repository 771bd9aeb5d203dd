import { loaded } from "../../ui/loaded";

/** What carries sound and tells of it, and the bar: files of their own, loaded when the user joins a channel. */
export const VoiceHost = loaded(() => import("./VoiceHost"));
export const ConnectedBar = loaded(() => import("./ConnectedBar"));

export function preloadVoice(): void {
  VoiceHost.preload();
  ConnectedBar.preload();
}
