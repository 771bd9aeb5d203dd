import { useState, type DragEvent } from "react";

import type { DropPlace } from "../../store/folders";
import type { Rail } from "./rail";

const TYPE = "application/x-moothall-guild";

/** The attributes that let an entry of the rail be dragged, and others be dropped on it. */
export function useDrag(key: string, rail: Rail) {
  const [place, setPlace] = useState<DropPlace | null>(null);
  const accepts = (event: DragEvent) => event.dataTransfer.types.includes(TYPE);
  return {
    draggable: true,
    "data-drop": place ?? undefined,
    onDragStart: (event: DragEvent) => {
      event.dataTransfer.setData(TYPE, key);
      event.dataTransfer.effectAllowed = "move";
    },
    onDragOver: (event: DragEvent<HTMLElement>) => {
      if (accepts(event)) {
        event.preventDefault();
        event.stopPropagation();
        setPlace(placeOf(event));
      }
    },
    onDragLeave: () => setPlace(null),
    onDrop: (event: DragEvent<HTMLElement>) => {
      setPlace(null);
      if (accepts(event)) {
        event.preventDefault();
        event.stopPropagation();
        rail.drop(event.dataTransfer.getData(TYPE), key, placeOf(event));
      }
    },
  };
}

/** The upper and lower quarters are the places before and after. */
function placeOf(event: DragEvent<HTMLElement>): DropPlace {
  const { top, height } = event.currentTarget.getBoundingClientRect();
  const share = (event.clientY - top) / height;
  return share < 0.25 ? "before" : share > 0.75 ? "after" : "into";
}
