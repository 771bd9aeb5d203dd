/** When the microphone is let through: always, never, or while it is louder than a threshold. */
export type GateMode = "open" | "closed" | "detect";

export interface GateSettings {
  mode: GateMode;
  /** In dB below full scale. */
  threshold: number;
}

/** What the gate tells of the microphone. */
export interface GateReport {
  /** In dB. */
  level: number;
  isOpen: boolean;
}

/** The name of the audio worklet's processor that is a gate. */
export const PROCESSOR = "gate";

/** The level of silence, in dB. */
export const SILENCE_DB = -100;

const HOLD_SECONDS = 0.3;
const ATTACK_SECONDS = 0.003;
const RELEASE_SECONDS = 0.04;
/** How fast the level falls, in dB a second. */
const FALL_DB = 120;

/** The level of samples, in dB below full scale. */
export function levelOf(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) {
    sum += sample * sample;
  }
  const power = samples.length === 0 ? 0 : sum / samples.length;
  return power === 0 ? SILENCE_DB : Math.max(SILENCE_DB, 10 * Math.log10(power));
}

/** Lets sound through while it is louder than a threshold, and some time longer, without clicks. */
export class Gate {
  /** In dB; falls slowly, as meters do. */
  level = SILENCE_DB;
  settings: GateSettings = { mode: "closed", threshold: SILENCE_DB };
  private gain = 0;
  private held = 0;

  constructor(private readonly sampleRate: number) {}

  get isOpen(): boolean {
    return this.settings.mode === "open" || (this.settings.mode === "detect" && this.held > 0);
  }

  /** Copy a block of samples as far as the gate is open. */
  process(input: Float32Array, output: Float32Array): void {
    const seconds = input.length / this.sampleRate;
    this.level = Math.max(levelOf(input), this.level - FALL_DB * seconds);
    this.held = this.level >= this.settings.threshold ? HOLD_SECONDS : Math.max(0, this.held - seconds);
    const target = this.isOpen ? 1 : 0;
    const step = 1 / ((target === 1 ? ATTACK_SECONDS : RELEASE_SECONDS) * this.sampleRate);
    for (const [index, sample] of input.entries()) {
      this.gain = target === 1 ? Math.min(1, this.gain + step) : Math.max(0, this.gain - step);
      output[index] = sample * this.gain;
    }
  }
}
