import { useSyncExternalStore } from "react";

import { VOLUME_MAX } from "./volumes";

/** How a screen is shared. */
export interface ScreenSettings {
  /** In pixels; 0 is as it is. */
  height: number;
  /** Frames in a second. */
  frameRate: number;
  withSound: boolean;
}

export const SCREEN_HEIGHTS: readonly number[] = [720, 1080, 1440, 0];
export const FRAME_RATES: readonly number[] = [5, 15, 30, 60];

/** What is chosen for voice on this device. */
export interface VoiceSettings {
  /** Ids of devices; empty for those of the system. */
  inputId: string;
  outputId: string;
  cameraId: string;
  /** In percent. */
  inputVolume: number;
  outputVolume: number;
  /** Speak when it is loud enough, or while a key is held. */
  mode: "detection" | "pushToTalk";
  /** From how loud the voice is sent, in dB below full scale. */
  threshold: number;
  /** The key of push to talk: the `code` of its events, and what it writes. */
  key: { code: string; label: string };
  echoCancellation: boolean;
  noiseSuppression: boolean;
  autoGainControl: boolean;
  /** Sounds for who comes and goes, and for being muted. */
  cues: boolean;
  screen: ScreenSettings;
}

export const THRESHOLD_MIN = -100;

export const DEFAULT_VOICE_SETTINGS: VoiceSettings = {
  inputId: "",
  outputId: "",
  cameraId: "",
  inputVolume: 100,
  outputVolume: 100,
  mode: "detection",
  threshold: -55,
  key: { code: "Backquote", label: "`" },
  echoCancellation: true,
  noiseSuppression: true,
  autoGainControl: true,
  cues: true,
  screen: { height: 1080, frameRate: 30, withSound: true },
};

const KEY = "moothall.voice";
const listeners = new Set<() => void>();
let current: VoiceSettings | null = null;

/** The settings in a stored value; what is damaged is as it is at first. */
export function readVoiceSettings(stored: unknown): VoiceSettings {
  const values = typeof stored === "object" && stored !== null ? (stored as Record<string, unknown>) : {};
  const defaults = DEFAULT_VOICE_SETTINGS;
  const text = (name: "inputId" | "outputId" | "cameraId") =>
    typeof values[name] === "string" ? values[name] : defaults[name];
  const on = (name: "echoCancellation" | "noiseSuppression" | "autoGainControl" | "cues") =>
    typeof values[name] === "boolean" ? values[name] : defaults[name];
  const number = (name: "inputVolume" | "outputVolume" | "threshold", min: number, max: number) => {
    const value = values[name];
    return typeof value === "number" && Number.isFinite(value)
      ? Math.min(max, Math.max(min, value))
      : defaults[name];
  };
  const key = values["key"] as Partial<Record<"code" | "label", unknown>> | null | undefined;
  return {
    inputId: text("inputId"),
    outputId: text("outputId"),
    cameraId: text("cameraId"),
    inputVolume: number("inputVolume", 0, VOLUME_MAX),
    outputVolume: number("outputVolume", 0, VOLUME_MAX),
    mode: values["mode"] === "pushToTalk" ? "pushToTalk" : "detection",
    threshold: number("threshold", THRESHOLD_MIN, 0),
    key:
      typeof key?.code === "string" && typeof key.label === "string"
        ? { code: key.code, label: key.label }
        : defaults.key,
    echoCancellation: on("echoCancellation"),
    noiseSuppression: on("noiseSuppression"),
    autoGainControl: on("autoGainControl"),
    cues: on("cues"),
    screen: readScreen(values["screen"]),
  };
}

function readScreen(stored: unknown): ScreenSettings {
  const { height, frameRate, withSound } = (stored ?? {}) as Partial<Record<keyof ScreenSettings, unknown>>;
  const defaults = DEFAULT_VOICE_SETTINGS.screen;
  return {
    height: SCREEN_HEIGHTS.find((each) => each === height) ?? defaults.height,
    frameRate: FRAME_RATES.find((each) => each === frameRate) ?? defaults.frameRate,
    withSound: typeof withSound === "boolean" ? withSound : defaults.withSound,
  };
}

export function getVoiceSettings(): VoiceSettings {
  if (current === null) {
    let stored: unknown = null;
    try {
      stored = JSON.parse(localStorage.getItem(KEY) ?? "null");
    } catch {
      // A damaged entry counts as none.
    }
    current = readVoiceSettings(stored);
  }
  return current;
}

export function setVoiceSettings(changes: Partial<VoiceSettings>): void {
  current = { ...getVoiceSettings(), ...changes };
  localStorage.setItem(KEY, JSON.stringify(current));
  tell();
}

function tell(): void {
  for (const listener of listeners) {
    listener();
  }
}

/** Follow changes of this page and of other pages of the client on this device. */
export function subscribeVoiceSettings(listener: () => void): () => void {
  const onStorage = ({ key }: StorageEvent) => {
    if (key === null || key === KEY) {
      current = null;
      listener();
    }
  };
  listeners.add(listener);
  addEventListener("storage", onStorage);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", onStorage);
  };
}

export function useVoiceSettings(): VoiceSettings {
  return useSyncExternalStore(subscribeVoiceSettings, getVoiceSettings);
}

/** How a key is called: by what it writes, else by its name. */
export function keyName({ code, label }: VoiceSettings["key"]): string {
  return label.trim().length > 0 ? label.toUpperCase() : code;
}
