import type { VideoKind } from "./media";
import type { Quality } from "./quality";

/** How far the connection that carries sound to and from this page has come; null for none. */
export type Phase = "connecting" | "connected" | "reconnecting" | "failed";

/** What keeps the microphone from being heard, apart from being muted. */
export type MicrophoneProblem =
  /** The user or the browser refuses it. */
  | "refused"
  /** There is no microphone, or the chosen one is gone. */
  | "missing"
  /** Another program has it. */
  | "busy"
  /** The page is not served securely, or the browser has no such function. */
  | "unsupported";

/** What keeps a camera or a screen from being shown. */
export type VideoProblem =
  /** The user or the browser refuses it. */
  | "refused"
  /** There is no camera, or the chosen one is gone. */
  | "missing"
  /** Another program has it, or it cannot be read. */
  | "busy"
  /** The page is not served securely, or the browser has no such function. */
  | "unsupported";

/** Why there is no sound at all. */
export type Failure =
  /** The server does not say where to connect: it carries no sound. */
  | "none"
  /** The server does not answer, or no datagrams get through. */
  | "unreachable"
  /** The server refuses what this client does. */
  | "refused"
  /** The channel demands end-to-end encryption. */
  | "encryption"
  /** The browser has no peer connections. */
  | "unsupported";

/** The sound of this page. */
export interface VoiceStatus {
  phase: Phase | null;
  failure: Failure | null;
  microphone: MicrophoneProblem | null;
  /** Whether the browser plays nothing until the page is clicked. */
  isSilenced: boolean;
  quality: Quality | null;
  /** What the user has chosen here. It counts at once, also while the server cannot be told. */
  selfMute: boolean;
  selfDeaf: boolean;
  /** The ids of those who speak, the user among them. */
  speaking: ReadonlySet<string>;
  /** Whether the page sends the user's camera, and their screen. */
  camera: boolean;
  screen: boolean;
  /** Why it does not. */
  videoProblem: { kind: VideoKind; problem: VideoProblem } | null;
}

export const NO_VOICE: VoiceStatus = {
  phase: null,
  failure: null,
  microphone: null,
  isSilenced: false,
  quality: null,
  selfMute: false,
  selfDeaf: false,
  speaking: new Set(),
  camera: false,
  screen: false,
  videoProblem: null,
};

/** What a status is without a call; what the user has chosen stays. */
export const WITHOUT_CALL: Partial<VoiceStatus> = {
  phase: null,
  failure: null,
  microphone: null,
  isSilenced: false,
  quality: null,
  speaking: new Set(),
  camera: false,
  screen: false,
  videoProblem: null,
};

let current = NO_VOICE;
const listeners = new Set<() => void>();

export function getVoiceStatus(): VoiceStatus {
  return current;
}

export function setVoiceStatus(changes: Partial<VoiceStatus>): void {
  current = { ...current, ...changes };
  for (const listener of listeners) {
    listener();
  }
}

/** Mute or unmute oneself. Who is deafened is muted as well, and hears again by unmuting. */
export function toggleSelfMute(): void {
  const { selfMute, selfDeaf } = current;
  setVoiceStatus(selfMute || selfDeaf ? { selfMute: false, selfDeaf: false } : { selfMute: true });
}

export function toggleSelfDeaf(): void {
  setVoiceStatus({ selfDeaf: !current.selfDeaf });
}

export function subscribeVoiceStatus(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
