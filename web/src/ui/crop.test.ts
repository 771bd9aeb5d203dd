import { expect, test } from "vitest";

import { clampOffset, shownSize, sourceSquare } from "./crop";

const WIDE = { width: 800, height: 400 };
const STAGE = 200;

test("without zoom the shorter side fills the stage", () => {
  expect(shownSize(WIDE, STAGE, 1)).toEqual({ width: 400, height: 200 });
});

test("the middle is kept at first, in the picture's own pixels", () => {
  expect(sourceSquare({ x: 0, y: 0 }, WIDE, STAGE, 1)).toEqual({ x: 200, y: 0, edge: 400 });
  expect(sourceSquare({ x: 0, y: 0 }, WIDE, STAGE, 2)).toEqual({ x: 300, y: 100, edge: 200 });
});

test.each([1, 1.5, 4])("at a zoom of %f no offset leaves a corner of the stage empty", (zoom) => {
  for (const far of [-1e6, 0, 1e6]) {
    const square = sourceSquare(clampOffset({ x: far, y: far }, WIDE, STAGE, zoom), WIDE, STAGE, zoom);
    expect(square.x).toBeGreaterThanOrEqual(-1e-6);
    expect(square.y).toBeGreaterThanOrEqual(-1e-6);
    expect(square.x + square.edge).toBeLessThanOrEqual(WIDE.width + 1e-6);
    expect(square.y + square.edge).toBeLessThanOrEqual(WIDE.height + 1e-6);
  }
});

test("moving the picture to the right shows what is left of its middle", () => {
  expect(sourceSquare({ x: 50, y: 0 }, WIDE, STAGE, 1).x).toBe(100);
});
