import { levelOf } from "./gate";
import type { UserVolume } from "./volumes";

/** How many samples a level is of: what is played in 85 ms at 48 kHz. */
const SAMPLES = 4096;

interface Channel {
  source: MediaStreamAudioSourceNode;
  /** Before the volume, so that one sees also who is muted for oneself. */
  analyser: AnalyserNode;
  gain: GainNode;
  /** Chromium plays a track of a connection only where an element has it. */
  element: HTMLAudioElement;
}

/** Plays everyone's sound, each at a volume of their own. */
export class Speakers {
  private readonly master: GainNode;
  private readonly channels = new Map<string, Channel>();

  constructor(private readonly context: AudioContext) {
    this.master = context.createGain();
    this.master.connect(context.destination);
  }

  /** Play a user's sound, or with null no longer. */
  setTrack(userId: string, track: MediaStreamTrack | null, volume: UserVolume): void {
    this.remove(userId);
    if (track === null) {
      return;
    }
    const stream = new MediaStream([track]);
    const element = new Audio();
    element.muted = true;
    element.srcObject = stream;
    element.play().catch(() => undefined);
    const source = this.context.createMediaStreamSource(stream);
    const analyser = new AnalyserNode(this.context, { fftSize: SAMPLES });
    const gain = this.context.createGain();
    source.connect(analyser).connect(gain).connect(this.master);
    this.channels.set(userId, { source, analyser, gain, element });
    this.setVolume(userId, volume);
  }

  setVolume(userId: string, { volume, muted }: UserVolume): void {
    const channel = this.channels.get(userId);
    if (channel !== undefined) {
      channel.gain.gain.value = muted ? 0 : volume / 100;
    }
  }

  /** In percent; 0 while the user is deafened. */
  setMasterVolume(percent: number): void {
    this.master.gain.value = percent / 100;
  }

  /** The level of each user's sound now, in dB. */
  levels(): Map<string, number> {
    const samples = new Float32Array(SAMPLES);
    return new Map(
      [...this.channels].map(([userId, { analyser }]) => {
        analyser.getFloatTimeDomainData(samples);
        return [userId, levelOf(samples)];
      }),
    );
  }

  get userIds(): string[] {
    return [...this.channels.keys()];
  }

  close(): void {
    for (const userId of this.userIds) {
      this.remove(userId);
    }
    this.master.disconnect();
  }

  private remove(userId: string): void {
    const channel = this.channels.get(userId);
    if (channel !== undefined) {
      channel.source.disconnect();
      channel.analyser.disconnect();
      channel.gain.disconnect();
      channel.element.srcObject = null;
      this.channels.delete(userId);
    }
  }
}

/** Whether a choice of where sound is played has an effect here. */
export function canChooseOutput(): boolean {
  return typeof AudioContext === "function" && "setSinkId" in AudioContext.prototype;
}

/** Play on a device; an empty id is that of the system, and one that is gone is replaced by it. */
export async function setOutput(context: AudioContext, deviceId: string): Promise<void> {
  const device = context as AudioContext & { setSinkId?: (id: string) => Promise<void> };
  try {
    await device.setSinkId?.(deviceId);
  } catch {
    await device.setSinkId?.("").catch(() => undefined);
  }
}
