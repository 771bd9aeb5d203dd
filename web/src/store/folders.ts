import type { GuildFolder } from "./userSettings";

/** An entry of the list of guilds: a guild alone, or a folder with several. */
export interface RailEntry {
  /** Null for a guild alone. */
  folder: { id: number; name: string | null; color: number | null } | null;
  guildIds: readonly string[];
}

/** The key of an entry, or of a guild inside a folder, for lists and for dragging. */
export function entryKey(entry: RailEntry): string {
  return entry.folder === null ? `guild ${entry.guildIds[0] ?? ""}` : `folder ${entry.folder.id}`;
}

/** The list of guilds: as the folders have them, with the others at the end in their order. */
export function arrangeGuilds(guildIds: readonly string[], folders: readonly GuildFolder[]): RailEntry[] {
  const left = new Set(guildIds);
  const entries: RailEntry[] = [];
  for (const { id, name, color, guild_ids } of folders) {
    const present = guild_ids.filter((guildId) => left.delete(guildId));
    if (id !== null && present.length > 0) {
      entries.push({ folder: { id, name, color }, guildIds: present });
    } else {
      entries.push(...present.map(alone));
    }
  }
  return [...entries, ...[...left].map(alone)];
}

/** The entries as the settings store them. */
export function toFolders(entries: readonly RailEntry[]): GuildFolder[] {
  return entries.map(({ folder, guildIds }) => ({
    id: folder?.id ?? null,
    name: folder?.name ?? null,
    color: folder?.color ?? null,
    guild_ids: guildIds,
  }));
}

export type DropPlace = "before" | "after" | "into";

/**
 * The entries after a guild or folder was dropped on another. Into a guild alone makes a folder with `newFolderId`;
 * a folder goes beside the entry that it is dropped on.
 */
export function dropEntry(
  entries: readonly RailEntry[],
  draggedKey: string,
  targetKey: string,
  place: DropPlace,
  newFolderId: number,
): RailEntry[] {
  if (draggedKey === targetKey) {
    return [...entries];
  }
  const [kind, draggedId = ""] = draggedKey.split(" ");
  const dragged =
    kind === "folder" ? entries.find((entry) => entryKey(entry) === draggedKey) : alone(draggedId);
  if (dragged === undefined) {
    return [...entries];
  }
  const rest = without(entries, draggedKey);
  const [targetKind, targetId = ""] = targetKey.split(" ");
  const index = rest.findIndex(
    (entry) => entryKey(entry) === targetKey || (targetKind === "guild" && entry.guildIds.includes(targetId)),
  );
  const target = rest[index];
  if (target === undefined) {
    return [...entries];
  }
  const isInside = target.folder !== null && targetKind === "guild";
  if (kind === "guild" && (isInside || place === "into")) {
    const at = isInside
      ? target.guildIds.indexOf(targetId) + (place === "before" ? 0 : 1)
      : target.guildIds.length;
    const changed: RailEntry = {
      folder: target.folder ?? { id: newFolderId, name: null, color: null },
      guildIds: target.guildIds.toSpliced(at, 0, draggedId),
    };
    return rest.with(index, changed);
  }
  return rest.toSpliced(place === "before" ? index : index + 1, 0, dragged);
}

/** The entries after one of them, or a guild inside a folder, moved up (-1) or down (1). */
export function moveEntry(entries: readonly RailEntry[], key: string, by: -1 | 1): RailEntry[] {
  const index = entries.findIndex((entry) => entryKey(entry) === key);
  if (index >= 0) {
    return swap(entries, index, index + by);
  }
  const guildId = key.split(" ")[1] ?? "";
  return entries.map((entry) => {
    const at = entry.guildIds.indexOf(guildId);
    return at < 0 ? entry : { ...entry, guildIds: swap(entry.guildIds, at, at + by) };
  });
}

/** The entries with a guild in a folder of its own. */
export function createFolder(entries: readonly RailEntry[], guildId: string, folderId: number): RailEntry[] {
  return entries.map((entry) =>
    entry.folder === null && entry.guildIds[0] === guildId
      ? { folder: { id: folderId, name: null, color: null }, guildIds: [guildId] }
      : entry,
  );
}

/** The entries with a guild outside of its folder, below it. */
export function leaveFolder(entries: readonly RailEntry[], guildId: string): RailEntry[] {
  return entries.flatMap((entry) => {
    if (entry.folder === null || !entry.guildIds.includes(guildId)) {
      return [entry];
    }
    const guildIds = entry.guildIds.filter((id) => id !== guildId);
    return guildIds.length === 0 ? [alone(guildId)] : [{ ...entry, guildIds }, alone(guildId)];
  });
}

/** The entries with another name and colour of a folder; without it if `changes` is null. */
export function changeFolder(
  entries: readonly RailEntry[],
  folderId: number,
  changes: { name: string | null; color: number | null } | null,
): RailEntry[] {
  return entries.flatMap((entry) => {
    if (entry.folder?.id !== folderId) {
      return [entry];
    }
    return changes === null
      ? entry.guildIds.map(alone)
      : [{ ...entry, folder: { id: folderId, ...changes } }];
  });
}

function alone(guildId: string): RailEntry {
  return { folder: null, guildIds: [guildId] };
}

/** The entries without a folder, or without a guild; a folder that loses its last guild goes. */
function without(entries: readonly RailEntry[], key: string): RailEntry[] {
  const [kind, id = ""] = key.split(" ");
  return entries
    .filter((entry) => entryKey(entry) !== key)
    .map((entry) =>
      kind === "guild" ? { ...entry, guildIds: entry.guildIds.filter((guildId) => guildId !== id) } : entry,
    )
    .filter((entry) => entry.guildIds.length > 0);
}

function swap<T>(values: readonly T[], a: number, b: number): T[] {
  const [first, second] = [values[a], values[b]];
  return first === undefined || second === undefined ? [...values] : values.with(a, second).with(b, first);
}
