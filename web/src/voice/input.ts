import type { GateReport, GateSettings } from "./gate";
import { mediaDevices, Microphone, problemOf } from "./microphone";
import { followKey } from "./pushToTalk";
import { getVoiceSettings, type VoiceSettings } from "./settings";
import type { MicrophoneProblem } from "./status";

export interface VoiceInputCallbacks {
  /** What is to be sent has changed; null for nothing. */
  onTrack: (track: MediaStreamTrack | null) => void;
  onProblem: (problem: MicrophoneProblem | null) => void;
  onSpeaking: (isSpeaking: boolean) => void;
}

/** What needs another microphone when it changes. */
const ASKED_FOR = ["inputId", "echoCancellation", "noiseSuppression", "autoGainControl"] as const;

/** The microphone for as long as one is needed, with its gate: by loudness, by a key, or closed while muted. */
export class VoiceInput {
  private microphone: Microphone | null = null;
  /** The settings that the microphone was asked for with. */
  private opened: VoiceSettings | null = null;
  private isNeeded = false;
  private isMuted = true;
  private mayDetect = true;
  private isKeyHeld = false;
  private stopFollowing: (() => void) | null = null;

  constructor(
    private readonly context: AudioContext,
    private readonly callbacks: VoiceInputCallbacks,
  ) {
    mediaDevices()?.addEventListener("devicechange", this.handleDevices);
  }

  /** Whether there is something to speak into, whether the user is muted, and whether they may speak without a key. */
  set(isNeeded: boolean, isMuted: boolean, mayDetect: boolean): void {
    // Every change of the account's state comes here.
    if (isNeeded !== this.isNeeded || isMuted !== this.isMuted || mayDetect !== this.mayDetect) {
      this.isNeeded = isNeeded;
      this.isMuted = isMuted;
      this.mayDetect = mayDetect;
      this.apply();
    }
  }

  /** Ask for the microphone once more. */
  retry(): void {
    this.forget();
    this.apply();
  }

  /** Follow the settings, which have changed. */
  apply(): void {
    const settings = getVoiceSettings();
    if (!this.isNeeded) {
      this.forget();
      this.callbacks.onProblem(null);
    } else if (this.opened === null || ASKED_FOR.some((name) => settings[name] !== this.opened?.[name])) {
      void this.open(settings);
    }
    this.followKeys(this.isNeeded && this.usesKey);
    this.microphone?.setVolume(settings.inputVolume);
    this.microphone?.setEnabled(!this.isMuted);
    this.microphone?.setGate(this.gateSettings());
    if (this.isMuted) {
      this.callbacks.onSpeaking(false);
    }
  }

  close(): void {
    this.isNeeded = false;
    mediaDevices()?.removeEventListener("devicechange", this.handleDevices);
    this.followKeys(false);
    this.forget();
  }

  private get usesKey(): boolean {
    return !this.mayDetect || getVoiceSettings().mode === "pushToTalk";
  }

  private gateSettings(): GateSettings {
    const { threshold } = getVoiceSettings();
    if (this.usesKey) {
      return { mode: this.isKeyHeld && !this.isMuted ? "open" : "closed", threshold };
    }
    return { mode: this.isMuted ? "closed" : "detect", threshold };
  }

  private followKeys(isFollowing: boolean): void {
    if (isFollowing) {
      this.stopFollowing ??= followKey(
        () => getVoiceSettings().key,
        (isHeld) => {
          this.isKeyHeld = isHeld;
          this.microphone?.setGate(this.gateSettings());
        },
      );
    } else {
      this.stopFollowing?.();
      this.stopFollowing = null;
      this.isKeyHeld = false;
    }
  }

  private async open(settings: VoiceSettings): Promise<void> {
    this.forget();
    this.opened = settings;
    let microphone: Microphone | null = null;
    try {
      microphone = await Microphone.open(this.context, settings);
    } catch (error) {
      if (this.opened === settings) {
        this.callbacks.onProblem(problemOf(error));
      }
      return;
    }
    if (this.opened !== settings) {
      // Meanwhile it is not needed any more, or another one is.
      microphone.close();
      return;
    }
    this.microphone = microphone;
    microphone.onReport = ({ isOpen }: GateReport) => this.callbacks.onSpeaking(isOpen && !this.isMuted);
    microphone.onEnded = () => this.lose();
    this.callbacks.onProblem(null);
    this.callbacks.onTrack(microphone.track);
    this.apply();
  }

  /** The device was unplugged, or its permission taken back: another one is asked for. */
  private lose(): void {
    this.forget();
    this.apply();
  }

  private forget(): void {
    this.opened = null;
    if (this.microphone !== null) {
      this.microphone.close();
      this.microphone = null;
      this.callbacks.onTrack(null);
      this.callbacks.onSpeaking(false);
    }
  }

  /** A device has come or gone: where there was none, there may be one now. */
  private readonly handleDevices = () => {
    if (this.isNeeded && this.microphone === null && this.opened !== null) {
      this.retry();
    }
  };
}
