/** How an image is shown: enlarged by `scale` and moved by pixels. */
export interface View {
  scale: number;
  x: number;
  y: number;
}

export const FITTED: View = { scale: 1, x: 0, y: 0 };
export const MAX_SCALE = 8;

/** Enlarge or shrink by a factor, so that a point (in pixels from the middle) stays where it is. */
export function zoomAt(view: View, factor: number, x = 0, y = 0): View {
  const scale = Math.min(MAX_SCALE, Math.max(1, view.scale * factor));
  if (scale === 1) {
    return FITTED;
  }
  const ratio = scale / view.scale;
  return { scale, x: x - (x - view.x) * ratio, y: y - (y - view.y) * ratio };
}

/** Move an image that is larger than its frame, not beyond its edges. */
export function moveBy(view: View, dx: number, dy: number, width: number, height: number): View {
  const limitX = (width * (view.scale - 1)) / 2;
  const limitY = (height * (view.scale - 1)) / 2;
  return {
    scale: view.scale,
    x: Math.min(limitX, Math.max(-limitX, view.x + dx)),
    y: Math.min(limitY, Math.max(-limitY, view.y + dy)),
  };
}
