/** The short sounds of a voice channel. */
export type Cue = "joined" | "left" | "muted" | "unmuted";

/** Frequencies in hertz, one after the other. */
const TONES: Readonly<Record<Cue, readonly [number, number]>> = {
  joined: [523, 784],
  left: [784, 523],
  muted: [440, 330],
  unmuted: [330, 440],
};

const TONE_SECONDS = 0.09;
const VOLUME = 0.08;

/** The notes of a call that rings, one after the other. */
const RING: readonly number[] = [659, 784, 988, 784];
const RING_NOTE_SECONDS = 0.18;

/** Play a sound: two short tones with soft beginnings and ends. */
export function playCue(context: AudioContext, cue: Cue): void {
  playTones(context, TONES[cue], TONE_SECONDS);
}

/** Ring once. */
export function playRing(context: AudioContext): void {
  playTones(context, RING, RING_NOTE_SECONDS);
}

function playTones(context: AudioContext, frequencies: readonly number[], seconds: number): void {
  for (const [index, frequency] of frequencies.entries()) {
    const start = context.currentTime + index * seconds;
    const end = start + seconds;
    const tone = context.createOscillator();
    const gain = context.createGain();
    tone.frequency.value = frequency;
    gain.gain.setValueAtTime(0, start);
    gain.gain.linearRampToValueAtTime(VOLUME, start + 0.01);
    gain.gain.setValueAtTime(VOLUME, end - 0.03);
    gain.gain.linearRampToValueAtTime(0, end);
    tone.connect(gain).connect(context.destination);
    tone.start(start);
    tone.stop(end);
  }
}
