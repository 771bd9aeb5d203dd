import type { Virtualizer } from "@tanstack/react-virtual";

export type RowVirtualizer = Virtualizer<HTMLDivElement, HTMLDivElement>;

/** Whether a row that becomes higher or lower moves what is above it, so that what is read stays where it is. */
export function growsUpwards(index: number, virtualizer: RowVirtualizer): boolean {
  return index < placeIndex(virtualizer);
}

/** The row that stays where it is: the one in use, else the first whose beginning is in view. */
function placeIndex(virtualizer: RowVirtualizer): number {
  const list = virtualizer.scrollElement;
  const used = list === null ? null : usedRow(list);
  if (used !== null) {
    return used;
  }
  const top = virtualizer.scrollOffset ?? 0;
  const first = virtualizer.getVirtualItemForOffset(top);
  if (first === undefined) {
    return 0;
  }
  const isCut = first.start < top - 1;
  // A message that is higher than the list has nothing of the next one in view.
  const hasNext = first.end < top + (virtualizer.scrollRect?.height ?? 0);
  return isCut && hasNext ? first.index + 1 : first.index;
}

/** The index of the row in view that has an open menu, or that the keyboard has focused; null without one. */
function usedRow(list: HTMLElement): number | null {
  const focused = document.activeElement?.matches(":focus-visible") === true ? document.activeElement : null;
  const used = list.querySelector('.message-actions [aria-expanded="true"]') ?? focused;
  const row = list.contains(used) ? used?.closest<HTMLElement>("[data-index]") : null;
  if (!used || !row) {
    return null;
  }
  const box = list.getBoundingClientRect();
  const { top, bottom } = used.getBoundingClientRect();
  return bottom < box.top || top > box.bottom ? null : Number(row.dataset.index);
}
