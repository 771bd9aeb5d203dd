const KEY = "announcements.dismissed";
const MAX = 50;

/** The ids of announcements that were dismissed in this browser. */
export function dismissed(storage: Storage = localStorage): readonly string[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter((id) => typeof id === "string") : [];
  } catch {
    return [];
  }
}

/** Remember that an announcement was dismissed; the ids of all that were. */
export function dismiss(id: string, storage: Storage = localStorage): readonly string[] {
  const ids = [...dismissed(storage).filter((each) => each !== id), id].slice(-MAX);
  try {
    storage.setItem(KEY, JSON.stringify(ids));
  } catch {
    // Without storage it shows again after a reload.
  }
  return ids;
}
