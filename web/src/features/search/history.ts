/** The latest searches in a guild or direct message, newest first. They stay on the device, until the account logs out. */
import { accountKey } from "../session/accounts";
import { isEmpty, NO_FILTERS, type SearchFilters } from "./filters";

const MAX_SEARCHES = 8;

export function readSearches(
  userId: string,
  scopeId: string,
  storage: Storage = localStorage,
): SearchFilters[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(keyOf(userId, scopeId)) ?? "[]");
    return Array.isArray(stored) ? stored.map((each) => ({ ...NO_FILTERS, ...(each as SearchFilters) })) : [];
  } catch {
    return [];
  }
}

/** Put a search before the others; returns all. */
export function addSearch(
  userId: string,
  scopeId: string,
  filters: SearchFilters,
  storage: Storage = localStorage,
): SearchFilters[] {
  const before = readSearches(userId, scopeId, storage);
  if (isEmpty(filters)) {
    return before;
  }
  const key = JSON.stringify(filters);
  const searches = [filters, ...before.filter((each) => JSON.stringify(each) !== key)].slice(0, MAX_SEARCHES);
  storage.setItem(keyOf(userId, scopeId), JSON.stringify(searches));
  return searches;
}

export function clearSearches(userId: string, scopeId: string, storage: Storage = localStorage): void {
  storage.removeItem(keyOf(userId, scopeId));
}

function keyOf(userId: string, scopeId: string): string {
  return accountKey(userId, `searches.${scopeId}`);
}
