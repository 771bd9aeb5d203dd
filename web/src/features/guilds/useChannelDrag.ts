import { useRef, type DragEvent, type KeyboardEvent } from "react";

import { useSession } from "../session/session";

/** Loaded when something is moved: the first screens do not need it. */
const load = () => import("../channel_settings/arranging");

const TYPE = "application/x-moothall-channel";
const ROW = "[data-channel], [data-category]";

interface ChannelDragProps {
  guildId: string;
  /** Whether the user may arrange the channels. */
  isEnabled: boolean;
  /** Called with the id of what was moved. */
  onMoved: (channelId: string) => void;
}

/**
 * The attributes of a list of channels with which its rows are moved: dragged, or by Control, Shift and an arrow key. One
 * for all rows, of which there may be hundreds; each has its id as `data-channel` or `data-category`.
 */
export function useChannelDrag({ guildId, isEnabled, onMoved }: ChannelDragProps) {
  const session = useSession();
  const marked = useRef<HTMLElement | null>(null);
  const mark = (row: HTMLElement | null, side: "before" | "after" | null) => {
    if (marked.current !== row) {
      marked.current?.removeAttribute("data-drop");
    }
    marked.current = row;
    if (row !== null && side !== null) {
      row.dataset["drop"] = side;
    }
  };
  if (!isEnabled) {
    return {};
  }
  const accepts = (event: DragEvent) => event.dataTransfer.types.includes(TYPE);
  const settle = (moving: Promise<boolean>, id: string) =>
    void moving.then((moved) => moved && onMoved(id)).catch(() => undefined);
  return {
    onDragStart: (event: DragEvent) => {
      const id = idOf(rowOf(event.target));
      if (id !== undefined) {
        event.dataTransfer.setData(TYPE, id);
        event.dataTransfer.effectAllowed = "move";
      }
    },
    onDragOver: (event: DragEvent) => {
      const row = rowOf(event.target);
      if (accepts(event) && row !== null) {
        event.preventDefault();
        mark(row, sideOf(event.clientY, row));
      }
    },
    onDragLeave: (event: DragEvent) => {
      if (!event.currentTarget.contains(event.relatedTarget as Element | null)) {
        mark(null, null);
      }
    },
    onDragEnd: () => mark(null, null),
    onDrop: (event: DragEvent) => {
      const row = rowOf(event.target);
      mark(null, null);
      const targetId = idOf(row);
      if (accepts(event) && row !== null && targetId !== undefined) {
        event.preventDefault();
        const id = event.dataTransfer.getData(TYPE);
        const side = sideOf(event.clientY, row);
        settle(
          load().then(({ moveBeside }) => moveBeside(session, guildId, id, targetId, side)),
          id,
        );
      }
    },
    onKeyDown: (event: KeyboardEvent) => {
      const id = idOf(rowOf(event.target));
      const isMove =
        (event.ctrlKey || event.metaKey) && event.shiftKey && /^Arrow(?:Up|Down)$/.test(event.key);
      if (isMove && id !== undefined) {
        event.preventDefault();
        event.stopPropagation();
        const direction = event.key === "ArrowUp" ? -1 : 1;
        settle(
          load().then(({ moveInList }) => moveInList(session, guildId, id, direction)),
          id,
        );
      }
    },
  };
}

function rowOf(target: EventTarget): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>(ROW) : null;
}

function idOf(row: HTMLElement | null): string | undefined {
  return row?.dataset["channel"] ?? row?.dataset["category"];
}

/** The half of a row that the pointer is in. */
function sideOf(y: number, row: HTMLElement): "before" | "after" {
  const { top, height } = row.getBoundingClientRect();
  return y - top < height / 2 ? "before" : "after";
}
