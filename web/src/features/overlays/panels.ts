import { useSyncExternalStore } from "react";

/** What stands beside a channel, other than its members and a thread. */
export type Panel =
  | { kind: "search" | "threads" | "inbox" }
  /** Of the channel that is open, or of a thread beside it. */
  | { kind: "pins" | "activities"; threadId: string | null }
  | { kind: "profile"; userId: string };

export interface Panels {
  panel: Panel | null;
  /** Whether the members are shown where no other panel is, and where they would take the place of the channel. */
  showsMembers: { beside: boolean; alone: boolean };
  /** Whether a thread that is open beside the channel stands before the panel: the one that was opened last does. */
  hasThreadInFront: boolean;
}

/** Wide enough for the members beside a channel from the beginning. */
const WIDE = "(min-width: 1100px)";
/** A panel takes the place of the channel. */
const NARROW = "(max-width: 999px)";

const listeners = new Set<() => void>();
let current: Panels = {
  panel: null,
  showsMembers: { beside: typeof matchMedia === "function" && matchMedia(WIDE).matches, alone: false },
  hasThreadInFront: true,
};
/** What had the focus when the panel was opened. */
let opener: Element | null = null;
let isNew = false;

function set(changes: Partial<Panels>): void {
  current = { ...current, ...changes };
  for (const listener of listeners) {
    listener();
  }
}

export function getPanels(): Panels {
  return current;
}

/** The panels beside the channel. They stay when another channel or guild is opened. */
export function usePanels(): Panels {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, getPanels);
}

export function openPanel(panel: Panel): void {
  opener = document.activeElement;
  isNew = true;
  set({ panel, hasThreadInFront: false });
}

/** Open a panel, or close it where it is the one that shows. */
export function togglePanel(panel: Panel, isThreadOpen: boolean): void {
  const isHidden = isThreadOpen && current.hasThreadInFront;
  if (!isHidden && JSON.stringify(panel) === JSON.stringify(current.panel)) {
    closePanel();
  } else {
    openPanel(panel);
  }
}

/** Close the panel; the focus goes back to where it was before. */
export function closePanel(): void {
  set({ panel: null });
  if (opener instanceof HTMLElement && opener.isConnected) {
    opener.focus({ preventScroll: true });
  }
  opener = null;
}

/** Close the panel where it hides the channel that a link in it leads to. */
export function leavePanel(): void {
  if (isPanelAlone()) {
    set({ panel: null });
  }
}

/** Whether panels take the place of the channel. */
export function isPanelAlone(): boolean {
  return matchMedia(NARROW).matches;
}

/** The same for what is drawn, as long as it is. */
export function usePanelAlone(): boolean {
  return useSyncExternalStore(subscribeToWidth, isPanelAlone);
}

function subscribeToWidth(listener: () => void): () => void {
  const narrow = matchMedia(NARROW);
  narrow.addEventListener("change", listener);
  return () => narrow.removeEventListener("change", listener);
}

/** Whether the members are shown, where no other panel is, in a window as wide as this one. */
export function useShowsMembers(): boolean {
  const isAlone = usePanelAlone();
  const { showsMembers } = usePanels();
  return isAlone ? showsMembers.alone : showsMembers.beside;
}

export function showMembers(shows: boolean): void {
  const showsMembers = { ...current.showsMembers, [isPanelAlone() ? "alone" : "beside"]: shows };
  set({ showsMembers, ...(shows && { panel: null }) });
}

/** Show the thread of the address before the panel. */
export function bringThreadToFront(): void {
  if (!current.hasThreadInFront) {
    set({ hasThreadInFront: true });
  }
}

/** Whether the panel that is drawn was just opened, and so takes the focus. */
export function takesFocus(): boolean {
  const takes = isNew;
  isNew = false;
  return takes;
}
