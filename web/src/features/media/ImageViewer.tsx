import { ChevronLeft, ChevronRight, ExternalLink, X, ZoomIn, ZoomOut } from "lucide-react";
import { useEffect, useRef, useState, type KeyboardEvent, type PointerEvent, type WheelEvent } from "react";
import { Dialog, Modal, ModalOverlay, useLocale } from "react-aria-components";

import { useText } from "../../i18n/translate";
import { IconButton } from "../../ui/controls";
import { FITTED, moveBy, zoomAt, type View } from "./zoom";
import "./viewer.css";

export interface ViewedImage {
  /** The original, for a page of its own. */
  url: string;
  /** What is shown here. */
  source: string;
  name: string;
  description: string;
}

interface ImageViewerProps {
  images: readonly ViewedImage[];
  /** The index of the first one that is shown. */
  first: number;
  onClose: () => void;
}

const STEP = 1.5;
const MOVE = 60;

/** Images over the whole page: the arrows lead from one to the next, plus and minus enlarge, dragging moves. */
export function ImageViewer({ images, first, onClose }: ImageViewerProps) {
  const text = useText();
  const onward = useLocale().direction === "rtl" ? -1 : 1;
  const [index, setIndex] = useState(first);
  const [view, setView] = useState<View>(FITTED);
  const stage = useRef<HTMLDivElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  // The dialog focuses itself, above the element that has the keys.
  useEffect(() => frame.current?.focus(), []);
  const dragged = useRef<{ x: number; y: number } | null>(null);
  const image = images[index];
  if (image === undefined) {
    return null;
  }
  const several = images.length > 1;
  const go = (by: number) => {
    setView(FITTED);
    setIndex((before) => (before + by + images.length) % images.length);
  };
  const move = (dx: number, dy: number) => {
    const { clientWidth = 0, clientHeight = 0 } = stage.current ?? {};
    setView((before) => moveBy(before, dx, dy, clientWidth, clientHeight));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) {
      return;
    }
    const zoomed = view.scale > 1;
    const actions: Readonly<Record<string, () => void>> = {
      ArrowRight: () => (zoomed ? move(-MOVE, 0) : go(onward)),
      ArrowLeft: () => (zoomed ? move(MOVE, 0) : go(-onward)),
      ArrowUp: () => move(0, MOVE),
      ArrowDown: () => move(0, -MOVE),
      "+": () => setView((before) => zoomAt(before, STEP)),
      "=": () => setView((before) => zoomAt(before, STEP)),
      "-": () => setView((before) => zoomAt(before, 1 / STEP)),
      "0": () => setView(FITTED),
    };
    const action = actions[event.key];
    if (action !== undefined) {
      event.preventDefault();
      action();
    }
  };
  /** A point of the page in pixels from the middle of the stage. */
  const fromMiddle = (event: { clientX: number; clientY: number }) => {
    const box = stage.current?.getBoundingClientRect();
    return box === undefined
      ? { x: 0, y: 0 }
      : { x: event.clientX - box.x - box.width / 2, y: event.clientY - box.y - box.height / 2 };
  };
  const onWheel = (event: WheelEvent) => {
    const { x, y } = fromMiddle(event);
    setView((before) => zoomAt(before, event.deltaY < 0 ? 1.2 : 1 / 1.2, x, y));
  };
  const onPointerMove = (event: PointerEvent) => {
    const from = dragged.current;
    if (from !== null) {
      dragged.current = { x: event.clientX, y: event.clientY };
      move(event.clientX - from.x, event.clientY - from.y);
    }
  };
  const endDrag = () => {
    dragged.current = null;
  };
  return (
    <ModalOverlay isOpen onOpenChange={(open) => !open && onClose()} className="viewer-scrim" isDismissable>
      <Modal className="viewer">
        <Dialog aria-label={text("viewer.title", { name: image.name })} className="viewer-dialog">
          {/* The keys of the whole viewer; its buttons do the same. */}
          {/* eslint-disable-next-line jsx-a11y/no-static-element-interactions */}
          <div ref={frame} className="viewer-frame" tabIndex={-1} onKeyDown={onKeyDown}>
            <div className="viewer-bar">
              <p className="viewer-name" role="status">
                {image.name}
                {several && ` · ${text("viewer.position", { position: index + 1, count: images.length })}`}
              </p>
              <IconButton
                label={text("viewer.zoomOut")}
                isDisabled={view.scale <= 1}
                onPress={() => setView(zoomAt(view, 1 / STEP))}
              >
                <ZoomOut size={20} />
              </IconButton>
              <IconButton label={text("viewer.zoomIn")} onPress={() => setView(zoomAt(view, STEP))}>
                <ZoomIn size={20} />
              </IconButton>
              <a
                className="icon-button"
                href={image.url}
                target="_blank"
                rel="noopener noreferrer"
                aria-label={text("viewer.original")}
                title={text("viewer.original")}
              >
                <ExternalLink size={20} aria-hidden="true" />
              </a>
              <IconButton label={text("common.close")} onPress={onClose}>
                <X size={20} />
              </IconButton>
            </div>
            {/* Dragging and the wheel are the pointer's way; the keys and buttons do the same. */}
            {/* eslint-disable-next-line jsx-a11y/no-static-element-interactions */}
            <div
              ref={stage}
              className={view.scale > 1 ? "viewer-stage viewer-stage-zoomed" : "viewer-stage"}
              onWheel={onWheel}
              onPointerMove={onPointerMove}
              onPointerUp={endDrag}
              onPointerCancel={endDrag}
              onPointerDown={(event) => {
                if (view.scale > 1) {
                  event.currentTarget.setPointerCapture(event.pointerId);
                  dragged.current = { x: event.clientX, y: event.clientY };
                }
              }}
              onDoubleClick={(event) => {
                const { x, y } = fromMiddle(event);
                setView(view.scale > 1 ? FITTED : zoomAt(view, 2.5, x, y));
              }}
            >
              <img
                key={image.source}
                src={image.source}
                alt={image.description === "" ? image.name : image.description}
                draggable={false}
                style={{ transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})` }}
              />
              {several && (
                <>
                  <span className="viewer-previous">
                    <IconButton label={text("viewer.previous")} onPress={() => go(-1)}>
                      <ChevronLeft size={28} />
                    </IconButton>
                  </span>
                  <span className="viewer-next">
                    <IconButton label={text("viewer.next")} onPress={() => go(1)}>
                      <ChevronRight size={28} />
                    </IconButton>
                  </span>
                </>
              )}
            </div>
            {image.description !== "" && <p className="viewer-description">{image.description}</p>}
          </div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
