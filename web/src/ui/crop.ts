/** The part of a picture that is kept: a square, moved and enlarged under a mask. Lengths are of the stage's pixels. */

export interface Size {
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

export const MAX_ZOOM = 4;

/** The size at which a picture is shown: at a zoom of 1 its shorter side fills the stage. */
export function shownSize(picture: Size, stage: number, zoom: number): Size {
  const scale = (stage / Math.min(picture.width, picture.height)) * zoom;
  return { width: picture.width * scale, height: picture.height * scale };
}

/** The nearest offset of the picture's middle from the stage's at which no corner of the stage is empty. */
export function clampOffset(offset: Point, picture: Size, stage: number, zoom: number): Point {
  const shown = shownSize(picture, stage, zoom);
  const clamp = (value: number, length: number) => {
    const most = Math.max(0, (length - stage) / 2);
    return Math.min(most, Math.max(-most, value));
  };
  return { x: clamp(offset.x, shown.width), y: clamp(offset.y, shown.height) };
}

/** The square of the picture, in its own pixels, that lies under the stage. */
export function sourceSquare(
  offset: Point,
  picture: Size,
  stage: number,
  zoom: number,
): Point & { edge: number } {
  const scale = shownSize(picture, stage, zoom).width / picture.width;
  const edge = stage / scale;
  return {
    x: picture.width / 2 - offset.x / scale - edge / 2,
    y: picture.height / 2 - offset.y / scale - edge / 2,
    edge,
  };
}
