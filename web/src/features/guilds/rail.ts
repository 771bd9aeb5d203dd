import type { DropPlace, RailEntry } from "../../store/folders";

/** The list of guilds as it is, and how it changes. */
export interface Rail {
  entries: readonly RailEntry[];
  change: (entries: readonly RailEntry[]) => void;
  /** Change it, too; fails where the server refuses, once it is as before. */
  save: (entries: readonly RailEntry[]) => Promise<void>;
  drop: (draggedKey: string, targetKey: string, place: DropPlace) => void;
}

/** An id that no folder has. */
export function newFolderId(entries: readonly RailEntry[]): number {
  return Math.max(0, ...entries.map((entry) => entry.folder?.id ?? 0)) + 1;
}
