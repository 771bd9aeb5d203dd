import type { SearchPage } from "../../api/search";
import type { Store } from "../../store/store";
import { NO_FILTERS, type SearchFilters } from "./filters";

/** A search that was started; the same one again has another number. */
export interface Search {
  filters: SearchFilters;
  offset: number;
  run: number;
}

export interface SavedSearch {
  /** What is typed. */
  draft: SearchFilters;
  search: Search | null;
  /** The page of results of the search; null until it is loaded. */
  page: SearchPage | null;
  /** How far the results are scrolled, in pixels. */
  top: number;
}

const NOTHING: SavedSearch = { draft: NO_FILTERS, search: null, page: null, top: 0 };

/** By session, with which they go. */
const searches = new WeakMap<Store, Map<string, SavedSearch>>();

/** What was searched last in a guild or direct message, as it was left. */
export function savedSearch(store: Store, scopeId: string): SavedSearch {
  return searches.get(store)?.get(scopeId) ?? NOTHING;
}

export function saveSearch(store: Store, scopeId: string, changes: Partial<SavedSearch>): void {
  const ofStore = searches.get(store) ?? new Map<string, SavedSearch>();
  searches.set(store, ofStore);
  ofStore.set(scopeId, { ...savedSearch(store, scopeId), ...changes });
}
