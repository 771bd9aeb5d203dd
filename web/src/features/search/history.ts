/** The latest searches in a guild, newest first. They stay on the device. */
import { isEmpty, NO_FILTERS, type SearchFilters } from "./filters";

const PREFIX = "moothall.searches.";
const MAX_SEARCHES = 8;

export function readSearches(guildId: string, storage: Storage = localStorage): SearchFilters[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(PREFIX + guildId) ?? "[]");
    return Array.isArray(stored) ? stored.map((each) => ({ ...NO_FILTERS, ...(each as SearchFilters) })) : [];
  } catch {
    return [];
  }
}

/** Put a search before the others; returns all. */
export function addSearch(
  guildId: string,
  filters: SearchFilters,
  storage: Storage = localStorage,
): SearchFilters[] {
  const before = readSearches(guildId, storage);
  if (isEmpty(filters)) {
    return before;
  }
  const key = JSON.stringify(filters);
  const searches = [filters, ...before.filter((each) => JSON.stringify(each) !== key)].slice(0, MAX_SEARCHES);
  storage.setItem(PREFIX + guildId, JSON.stringify(searches));
  return searches;
}

export function clearSearches(guildId: string, storage: Storage = localStorage): void {
  storage.removeItem(PREFIX + guildId);
}
