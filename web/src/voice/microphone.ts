import gateUrl from "./gateProcessor?worker&url";
import { PROCESSOR, type GateReport, type GateSettings } from "./gate";
import type { VoiceSettings } from "./settings";
import type { MicrophoneProblem } from "./status";

/** Why the browser gave no microphone, from its error. */
export function problemOf(error: unknown): MicrophoneProblem {
  const name = error instanceof Error || error instanceof DOMException ? error.name : "";
  switch (name) {
    case "NotFoundError":
    case "OverconstrainedError":
      return "missing";
    case "NotReadableError":
    case "AbortError":
      return "busy";
    case "NotAllowedError":
    case "SecurityError":
      return "refused";
    default:
      return "unsupported";
  }
}

/** What is asked of the browser for a microphone. A device that is gone is replaced by the system's. */
export function constraintsOf(settings: VoiceSettings): MediaTrackConstraints {
  const { inputId, echoCancellation, noiseSuppression, autoGainControl } = settings;
  return {
    ...(inputId !== "" && { deviceId: { ideal: inputId } }),
    echoCancellation,
    noiseSuppression,
    autoGainControl,
    channelCount: 1,
  };
}

/** The devices of the browser; undefined on pages that are not served securely. */
export function mediaDevices(): MediaDevices | undefined {
  return (navigator as { mediaDevices?: MediaDevices }).mediaDevices;
}

/** A microphone behind a volume and a gate. */
export class Microphone {
  /** What others hear. */
  readonly track: MediaStreamTrack;
  onReport: ((report: GateReport) => void) | null = null;
  /** Called when the device is unplugged, or its permission taken back. */
  onEnded: (() => void) | null = null;

  private constructor(
    private readonly source: MediaStreamTrack,
    private readonly input: MediaStreamAudioSourceNode,
    private readonly volume: GainNode,
    private readonly gate: AudioWorkletNode,
    output: MediaStreamAudioDestinationNode,
  ) {
    [this.track] = output.stream.getAudioTracks() as [MediaStreamTrack];
    this.gate.port.onmessage = ({ data }: MessageEvent<GateReport>) => this.onReport?.(data);
    source.onended = () => this.onEnded?.();
  }

  /** Ask the browser for a microphone. Throws what `problemOf` explains. */
  static async open(context: AudioContext, settings: VoiceSettings): Promise<Microphone> {
    const devices = mediaDevices();
    if (devices === undefined) {
      throw new TypeError("the page is not served securely");
    }
    const [stream] = await Promise.all([
      devices.getUserMedia({ audio: constraintsOf(settings) }),
      context.audioWorklet.addModule(gateUrl),
    ]);
    const [source] = stream.getAudioTracks() as [MediaStreamTrack];
    const input = context.createMediaStreamSource(stream);
    const volume = context.createGain();
    const gate = new AudioWorkletNode(context, PROCESSOR, { channelCount: 1, channelCountMode: "explicit" });
    const output = context.createMediaStreamDestination();
    output.channelCount = 1;
    input.connect(volume).connect(gate).connect(output);
    const microphone = new Microphone(source, input, volume, gate, output);
    microphone.setVolume(settings.inputVolume);
    return microphone;
  }

  /** In percent. */
  setVolume(percent: number): void {
    this.volume.gain.value = percent / 100;
  }

  /** Whether the device is listened to at all: a muted one shows as such in the browser. */
  setEnabled(isEnabled: boolean): void {
    this.source.enabled = isEnabled;
  }

  setGate(settings: GateSettings): void {
    this.gate.port.postMessage(settings);
  }

  close(): void {
    this.onReport = this.onEnded = null;
    this.source.stop();
    this.track.stop();
    this.input.disconnect();
    this.volume.disconnect();
    this.gate.disconnect();
  }
}
