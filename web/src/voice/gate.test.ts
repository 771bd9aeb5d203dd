import { expect, it } from "vitest";

import { Gate, levelOf, SILENCE_DB } from "./gate";

const RATE = 48_000;
const BLOCK = 128;

function block(amplitude: number): Float32Array {
  return new Float32Array(BLOCK).map((_, index) => amplitude * Math.sin((index / BLOCK) * 2 * Math.PI));
}

/** Send blocks through a gate; the level of the last one that comes out. */
function pass(gate: Gate, amplitude: number, seconds: number): number {
  const output = new Float32Array(BLOCK);
  for (let done = 0; done < seconds; done += BLOCK / RATE) {
    gate.process(block(amplitude), output);
  }
  return levelOf(output);
}

it("Levels are in dB below full scale", () => {
  expect(levelOf(new Float32Array(4).fill(1))).toBeCloseTo(0);
  expect(levelOf(new Float32Array(4).fill(0.1))).toBeCloseTo(-20);
  expect(levelOf(new Float32Array(4))).toBe(SILENCE_DB);
  expect(levelOf(new Float32Array())).toBe(SILENCE_DB);
});

it("What is louder than the threshold passes, and what follows shortly after it", () => {
  const gate = new Gate(RATE);
  gate.settings = { mode: "detect", threshold: -40 };
  expect(pass(gate, 0.003, 0.2)).toBe(SILENCE_DB);
  expect(gate.isOpen).toBe(false);
  expect(pass(gate, 0.3, 0.05)).toBeCloseTo(levelOf(block(0.3)));
  expect(pass(gate, 0.003, 0.2)).toBeGreaterThan(SILENCE_DB);
  expect(pass(gate, 0.003, 1)).toBe(SILENCE_DB);
  expect(gate.isOpen).toBe(false);
});

it("A closed gate lets nothing through, an open one everything", () => {
  const gate = new Gate(RATE);
  gate.settings = { mode: "closed", threshold: SILENCE_DB };
  expect(pass(gate, 1, 0.2)).toBe(SILENCE_DB);
  gate.settings = { mode: "open", threshold: 0 };
  expect(pass(gate, 0.003, 0.2)).toBeCloseTo(levelOf(block(0.003)));
});

it("A gate opens and closes without a jump in the sound", () => {
  const gate = new Gate(RATE);
  const output = new Float32Array(BLOCK);
  const steps: number[] = [];
  let last = 0;
  for (const mode of ["open", "open", "closed", "closed"] as const) {
    gate.settings = { mode, threshold: 0 };
    gate.process(new Float32Array(BLOCK).fill(1), output);
    for (const sample of output) {
      steps.push(Math.abs(sample - last));
      last = sample;
    }
  }
  expect(Math.max(...steps)).toBeLessThan(0.01);
});
