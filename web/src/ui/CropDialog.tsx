import { useId, useRef, useState, type KeyboardEvent, type PointerEvent } from "react";

import { useText } from "../i18n/translate";
import { Button } from "./controls";
import { clampOffset, MAX_ZOOM, shownSize, sourceSquare, type Point, type Size } from "./crop";
import ModalDialog from "./ModalDialog";
import "./crop.css";

const STAGE = 256;
/** Pictures are shown no larger than this, and screens may have twice the pixels. */
const OUTPUT = 512;
const STEP = 8;
const QUALITY = 0.92;

const ARROWS: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -STEP, y: 0 },
  ArrowRight: { x: STEP, y: 0 },
  ArrowUp: { x: 0, y: -STEP },
  ArrowDown: { x: 0, y: STEP },
};

interface CropDialogProps {
  /** A data URI. */
  url: string;
  onCrop: (url: string) => void;
  onClose: () => void;
}

/** Chooses the part of a picture that is shown round: moved by dragging or arrow keys, enlarged by a slider. */
export default function CropDialog({ url, onCrop, onClose }: CropDialogProps) {
  const text = useText();
  const hintId = useId();
  const zoomId = useId();
  const image = useRef<HTMLImageElement>(null);
  const dragged = useRef<Point | null>(null);
  const [picture, setPicture] = useState<Size | null>(null);
  const [zoom, setZoom] = useState(1);
  const [offset, setOffset] = useState<Point>({ x: 0, y: 0 });
  const move = (by: Point, newZoom = zoom) => {
    if (picture !== null) {
      setOffset((now) => clampOffset({ x: now.x + by.x, y: now.y + by.y }, picture, STAGE, newZoom));
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = ARROWS[event.key];
    if (by !== undefined) {
      event.preventDefault();
      move(by);
    }
  };
  const onPointerMove = (event: PointerEvent) => {
    const from = dragged.current;
    if (from !== null) {
      dragged.current = { x: event.clientX, y: event.clientY };
      move({ x: event.clientX - from.x, y: event.clientY - from.y });
    }
  };
  const crop = () => {
    if (image.current !== null && picture !== null) {
      onCrop(draw(image.current, sourceSquare(offset, picture, STAGE, zoom), url));
    }
  };
  const shown = picture === null ? null : shownSize(picture, STAGE, zoom);
  return (
    <ModalDialog title={text("crop.title")} onClose={onClose}>
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- it is moved by arrow keys */}
      <div
        className="crop-stage"
        role="application"
        aria-label={text("crop.stage")}
        aria-describedby={hintId}
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- as above
        tabIndex={0}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          dragged.current = { x: event.clientX, y: event.clientY };
        }}
        onPointerMove={onPointerMove}
        onPointerUp={() => (dragged.current = null)}
        onPointerCancel={() => (dragged.current = null)}
      >
        <img
          ref={image}
          src={url}
          alt=""
          draggable={false}
          style={
            shown === null
              ? { visibility: "hidden" }
              : { ...shown, transform: `translate(${offset.x}px, ${offset.y}px)` }
          }
          onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
            setPicture({ width, height })
          }
        />
        <span className="crop-mask" />
      </div>
      <p id={hintId} className="field-hint">
        {text("crop.hint")}
      </p>
      <label className="field-label" htmlFor={zoomId}>
        {text("crop.zoom")}
      </label>
      <input
        id={zoomId}
        className="crop-zoom"
        type="range"
        min={1}
        max={MAX_ZOOM}
        step={0.05}
        value={zoom}
        onChange={(event) => {
          const newZoom = Number(event.target.value);
          setZoom(newZoom);
          move({ x: 0, y: 0 }, newZoom);
        }}
      />
      <div className="dialog-actions">
        <Button onPress={onClose}>{text("common.cancel")}</Button>
        <Button kind="primary" isDisabled={picture === null} onPress={crop}>
          {text("crop.use")}
        </Button>
      </div>
    </ModalDialog>
  );
}

/** The square of a picture as a data URI, of the type that it had; the picture itself without a canvas. */
function draw(image: HTMLImageElement, square: Point & { edge: number }, url: string): string {
  const edge = Math.round(Math.min(OUTPUT, square.edge));
  const canvas = Object.assign(document.createElement("canvas"), { width: edge, height: edge });
  const context = canvas.getContext("2d");
  if (context === null) {
    return url;
  }
  context.drawImage(image, square.x, square.y, square.edge, square.edge, 0, 0, edge, edge);
  return canvas.toDataURL(url.startsWith("data:image/jpeg") ? "image/jpeg" : "image/png", QUALITY);
}
