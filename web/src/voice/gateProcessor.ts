import { Gate, PROCESSOR, type GateReport, type GateSettings } from "./gate";

// The library's types know no scope of audio worklets.
declare const sampleRate: number;
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: typeof AudioWorkletProcessor): void;

const REPORT_SECONDS = 0.05;

/** The gate on the audio thread, which no busy or hidden page holds up. */
class GateProcessor extends AudioWorkletProcessor {
  private readonly gate = new Gate(sampleRate);
  private sinceReport = 0;
  private wasOpen = false;

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<GateSettings>) => {
      this.gate.settings = data;
    };
  }

  process([input]: Float32Array[][], [output]: Float32Array[][]): boolean {
    const samples = input?.[0];
    const target = output?.[0];
    if (samples === undefined || target === undefined) {
      return true;
    }
    this.gate.process(samples, target);
    this.sinceReport += samples.length / sampleRate;
    const { isOpen, level } = this.gate;
    if (isOpen !== this.wasOpen || this.sinceReport >= REPORT_SECONDS) {
      this.wasOpen = isOpen;
      this.sinceReport = 0;
      this.port.postMessage({ level, isOpen } satisfies GateReport);
    }
    return true;
  }
}

registerProcessor(PROCESSOR, GateProcessor);
