/** The latest searches in a guild or direct message, newest first. They stay on the device. */
import { isEmpty, NO_FILTERS, type SearchFilters } from "./filters";

const PREFIX = "moothall.searches.";
const MAX_SEARCHES = 8;

export function readSearches(scopeId: string, storage: Storage = localStorage): SearchFilters[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(PREFIX + scopeId) ?? "[]");
    return Array.isArray(stored) ? stored.map((each) => ({ ...NO_FILTERS, ...(each as SearchFilters) })) : [];
  } catch {
    return [];
  }
}

/** Put a search before the others; returns all. */
export function addSearch(
  scopeId: string,
  filters: SearchFilters,
  storage: Storage = localStorage,
): SearchFilters[] {
  const before = readSearches(scopeId, storage);
  if (isEmpty(filters)) {
    return before;
  }
  const key = JSON.stringify(filters);
  const searches = [filters, ...before.filter((each) => JSON.stringify(each) !== key)].slice(0, MAX_SEARCHES);
  storage.setItem(PREFIX + scopeId, JSON.stringify(searches));
  return searches;
}

export function clearSearches(scopeId: string, storage: Storage = localStorage): void {
  storage.removeItem(PREFIX + scopeId);
}
