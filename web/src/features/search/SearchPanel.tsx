import { Search as SearchIcon, SlidersHorizontal } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { Button as AriaButton, Form, SearchField, Input, Label } from "react-aria-components";

import { searchMessages, type SearchScope } from "../../api/search";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { useAppState, useSession } from "../session/session";
import { useErrorText } from "../session/useAction";
import { SidePanel } from "../overlays/SidePanel";
import { isEmpty, MAX_OFFSET, PAGE_SIZE, readOperators, searchQuery, type SearchFilters } from "./filters";
import { FilterChips, FilterForm } from "./FilterForm";
import { addSearch, clearSearches, readSearches } from "./history";
import { namesOf, scopeId, scopeName } from "./scope";
import { saveSearch, savedSearch, type Search } from "./saved";
import { SearchResults } from "./SearchResults";
import "./search.css";

const RETRY_MS = 2_000;

/** Searches the messages of a guild or a direct message, with filters, beside the channel. */
export function SearchPanel({ scope }: { scope: SearchScope }) {
  const text = useText();
  const id = scopeId(scope);
  const name = useAppState((state) => scopeName(state, scope));
  const { store, account } = useSession();
  const [saved] = useState(() => savedSearch(store, id));
  const [draft, setDraft] = useState(saved.draft);
  const [search, setSearch] = useState(saved.search);
  const [searches, setSearches] = useState(() => readSearches(account.userId, id));
  const [showsFilters, setShowsFilters] = useState(false);
  useEffect(() => saveSearch(store, id, { draft }), [store, id, draft]);
  const show = (next: Search | null) => {
    saveSearch(store, id, { search: next, page: null, top: 0 });
    setSearch(next);
  };
  const start = (filters: SearchFilters) => {
    const read = readOperators(filters, namesOf(store.state, scope));
    setDraft(read);
    setShowsFilters(false);
    // The same search again is a new request.
    show(isEmpty(read) ? null : { filters: read, offset: 0, run: (search?.run ?? 0) + 1 });
    setSearches(addSearch(account.userId, id, read));
  };
  return (
    <SidePanel className="search" title={text("search.title")} closeLabel={text("search.close")}>
      <Form
        role="search"
        className="search-form"
        onSubmit={(event) => {
          event.preventDefault();
          start(draft);
        }}
      >
        <div className="search-row">
          <SearchField
            className="search-field"
            value={draft.content}
            onChange={(content) => {
              setDraft({ ...draft, content });
              if (isEmpty({ ...draft, content })) {
                show(null);
              }
            }}
          >
            <Label className="visually-hidden">{text("search.title")}</Label>
            <SearchIcon size={16} aria-hidden="true" />
            <Input dir="auto" placeholder={text("search.placeholder", { name })} maxLength={1024} />
          </SearchField>
        </div>
        <FilterChips filters={draft} onChange={search === null ? setDraft : start} />
        <div className="search-buttons">
          <Button aria-expanded={showsFilters} onPress={() => setShowsFilters(!showsFilters)}>
            <SlidersHorizontal size={16} aria-hidden="true" /> {text("search.filters")}
          </Button>
          <Button type="submit" kind="primary" isDisabled={isEmpty(draft)}>
            {text("search.submit")}
          </Button>
        </div>
        {showsFilters && <FilterForm scope={scope} filters={draft} onChange={setDraft} />}
      </Form>
      {search === null ? (
        <History
          hint={text(scope.guildId === null ? "search.hint.direct" : "search.hint")}
          searches={searches}
          onChoose={start}
          onClear={() => {
            clearSearches(account.userId, id);
            setSearches([]);
          }}
        />
      ) : (
        <Results
          key={JSON.stringify(search)}
          scope={scope}
          search={search}
          onOffset={(offset) => show({ ...search, offset })}
        />
      )}
    </SidePanel>
  );
}

interface HistoryProps {
  hint: string;
  searches: readonly SearchFilters[];
  onChoose: (filters: SearchFilters) => void;
  onClear: () => void;
}

function History({ hint, searches, onChoose, onClear }: HistoryProps) {
  const text = useText();
  return (
    <section className="search-body" aria-labelledby="search-history">
      {searches.length === 0 ? (
        <p id="search-history" className="field-hint">
          {hint}
        </p>
      ) : (
        <>
          <div className="search-heading">
            <h2 id="search-history">{text("search.history")}</h2>
            <Button kind="quiet" onPress={onClear}>
              {text("search.history.clear")}
            </Button>
          </div>
          <ul className="search-history">
            {searches.map((filters) => (
              <li key={JSON.stringify(filters)}>
                <AriaButton className="search-past" onPress={() => onChoose(filters)}>
                  {filters.content !== "" && <span>{filters.content}</span>}
                  <FilterChips filters={filters} />
                </AriaButton>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

interface ResultsProps {
  scope: SearchScope;
  search: Search;
  onOffset: (offset: number) => void;
}

/** A page of results; the one that was left is shown as it was. */
function Results({ scope, search, onOffset }: ResultsProps) {
  const { filters, offset } = search;
  const text = useText();
  const { api, store } = useSession();
  const id = scopeId(scope);
  const errorText = useErrorText();
  const [saved] = useState(() => {
    const last = savedSearch(store, id);
    return JSON.stringify(last.search) === JSON.stringify(search) ? last : null;
  });
  const [page, setPage] = useState(saved?.page ?? null);
  const [error, setError] = useState<unknown>(null);
  const [indexing, setIndexing] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const isLoaded = page !== null;
  useEffect(() => {
    if (isLoaded) {
      return undefined;
    }
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    searchMessages(api, scope, searchQuery(filters, offset), abort.signal).then(
      (loaded) => {
        setIndexing(loaded === null);
        setPage(loaded);
        saveSearch(store, id, { search, page: loaded, top: 0 });
        if (loaded === null) {
          timer = setTimeout(() => setAttempt((before) => before + 1), RETRY_MS);
        }
      },
      (caught: unknown) => {
        if (!abort.signal.aborted) {
          setError(caught);
        }
      },
    );
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [api, store, scope, id, search, filters, offset, attempt, isLoaded]);
  const body = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    // It may return a promise, which is no function that cleans up.
    body.current?.scrollTo({ top: saved?.top ?? 0 });
  }, [saved]);
  if (error !== null) {
    return (
      <div className="search-body">
        <p role="alert" className="notice notice-danger">
          {errorText(error)}
        </p>
        <Button
          onPress={() => {
            setError(null);
            setAttempt(attempt + 1);
          }}
        >
          {text("common.retry")}
        </Button>
      </div>
    );
  }
  if (page === null) {
    return (
      <div className="search-body" role="status" aria-busy="true">
        <span className={indexing ? undefined : "visually-hidden"}>
          {text(indexing ? "search.indexing" : "app.loading")}
        </span>
        {[88, 64, 110].map((height) => (
          <span key={height} className="skeleton search-skeleton" style={{ height }} />
        ))}
      </div>
    );
  }
  const last = Math.min(page.total_results, MAX_OFFSET + PAGE_SIZE);
  return (
    <div
      ref={body}
      className="search-body"
      onScroll={(event) => saveSearch(store, id, { top: event.currentTarget.scrollTop })}
    >
      <p role="status" className="field-hint">
        {text(page.total_results === 0 ? "search.none" : "search.results", { count: page.total_results })}
      </p>
      <SearchResults guildId={scope.guildId} messages={page.messages.flat()} />
      {last > PAGE_SIZE && (
        <nav className="search-pages" aria-label={text("search.pages")}>
          <Button isDisabled={offset === 0} onPress={() => onOffset(offset - PAGE_SIZE)}>
            {text("search.previous")}
          </Button>
          <span>
            {text("search.page", { page: offset / PAGE_SIZE + 1, pages: Math.ceil(last / PAGE_SIZE) })}
          </span>
          <Button isDisabled={offset + PAGE_SIZE >= last} onPress={() => onOffset(offset + PAGE_SIZE)}>
            {text("search.next")}
          </Button>
        </nav>
      )}
    </div>
  );
}
