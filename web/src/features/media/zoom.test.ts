import { describe, expect, it } from "vitest";

import { FITTED, MAX_SCALE, moveBy, zoomAt } from "./zoom";

describe("the view of an image", () => {
  it("is enlarged around a point, which stays in its place", () => {
    const view = zoomAt(FITTED, 2, 100, 50);
    expect(view).toEqual({ scale: 2, x: -100, y: -50 });
    // The point of the image below the pointer: (pointer - offset) / scale.
    expect([(100 - view.x) / view.scale, (50 - view.y) / view.scale]).toEqual([100, 50]);
  });

  it("is never smaller than its frame or larger than the maximum", () => {
    expect(zoomAt({ scale: 2, x: 30, y: 0 }, 0.1)).toEqual(FITTED);
    expect(zoomAt(FITTED, 100).scale).toBe(MAX_SCALE);
  });

  it("is moved up to its edges", () => {
    expect(moveBy({ scale: 2, x: 0, y: 0 }, 500, -20, 400, 300)).toEqual({ scale: 2, x: 200, y: -20 });
    expect(moveBy(FITTED, 50, 50, 400, 300)).toEqual(FITTED);
  });
});
