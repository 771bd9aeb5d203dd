import { Search, X } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Button as AriaButton, Form, SearchField, Input, Label } from "react-aria-components";

import { searchGuildMessages, type SearchPage } from "../../api/search";
import { useText } from "../../i18n/translate";
import type { GuildState, State } from "../../store/state";
import { Button, IconButton } from "../../ui/controls";
import { channelName } from "../../store/selectors";
import { viewableChannels } from "../messages/completion";
import { useSession } from "../session/session";
import { useErrorText } from "../session/useAction";
import { setOverlays } from "../shell/overlay";
import {
  isEmpty,
  MAX_OFFSET,
  NO_FILTERS,
  PAGE_SIZE,
  readOperators,
  searchQuery,
  type SearchFilters,
} from "./filters";
import { FilterChips, FilterForm } from "./FilterForm";
import { addSearch, clearSearches, readSearches } from "./history";
import { SearchResults } from "./SearchResults";
import "./search.css";

const RETRY_MS = 2_000;

/** Searches the messages of a guild, with filters, beside the channel. */
export function SearchPanel({ guild }: { guild: GuildState }) {
  const text = useText();
  const { store } = useSession();
  const [draft, setDraft] = useState<SearchFilters>(NO_FILTERS);
  const [search, setSearch] = useState<{ filters: SearchFilters; offset: number; run: number } | null>(null);
  const [searches, setSearches] = useState(() => readSearches(guild.id));
  const [showsFilters, setShowsFilters] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const close = () => setOverlays({ searching: false });
  const start = (filters: SearchFilters) => {
    const read = readOperators(filters, namesOf(store.state, guild.id));
    setDraft(read);
    setShowsFilters(false);
    // The same search again is a new request.
    setSearch((before) => (isEmpty(read) ? null : { filters: read, offset: 0, run: (before?.run ?? 0) + 1 }));
    setSearches(addSearch(guild.id, read));
  };
  return (
    <aside className="search" aria-label={text("search.title")}>
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
            onChange={(content) => setDraft({ ...draft, content })}
          >
            <Label className="visually-hidden">{text("search.title")}</Label>
            <Search size={16} aria-hidden="true" />
            <Input
              ref={field}
              placeholder={text("search.placeholder", { name: guild.name })}
              maxLength={1024}
            />
          </SearchField>
          <IconButton label={text("search.close")} onPress={close}>
            <X size={18} />
          </IconButton>
        </div>
        <FilterChips filters={draft} onChange={search === null ? setDraft : start} />
        <div className="search-buttons">
          <Button kind="quiet" aria-expanded={showsFilters} onPress={() => setShowsFilters(!showsFilters)}>
            {text("search.filters")}
          </Button>
          <Button type="submit" kind="primary" isDisabled={isEmpty(draft)}>
            {text("search.submit")}
          </Button>
        </div>
        {showsFilters && <FilterForm guild={guild} filters={draft} onChange={setDraft} />}
      </Form>
      {search === null ? (
        <History
          searches={searches}
          onChoose={start}
          onClear={() => {
            clearSearches(guild.id);
            setSearches([]);
          }}
        />
      ) : (
        <Results
          key={JSON.stringify(search)}
          guild={guild}
          filters={search.filters}
          offset={search.offset}
          onOffset={(offset) => setSearch({ ...search, offset })}
        />
      )}
    </aside>
  );
}

interface HistoryProps {
  searches: readonly SearchFilters[];
  onChoose: (filters: SearchFilters) => void;
  onClear: () => void;
}

function History({ searches, onChoose, onClear }: HistoryProps) {
  const text = useText();
  return (
    <section className="search-body" aria-labelledby="search-history">
      {searches.length === 0 ? (
        <p id="search-history" className="field-hint">
          {text("search.hint")}
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
  guild: GuildState;
  filters: SearchFilters;
  offset: number;
  onOffset: (offset: number) => void;
}

/** A page of results. */
function Results({ guild, filters, offset, onOffset }: ResultsProps) {
  const text = useText();
  const { api } = useSession();
  const errorText = useErrorText();
  const [page, setPage] = useState<SearchPage | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [indexing, setIndexing] = useState(false);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    searchGuildMessages(api, guild.id, searchQuery(filters, offset), abort.signal).then(
      (loaded) => {
        setIndexing(loaded === null);
        setPage(loaded);
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
  }, [api, guild.id, filters, offset, attempt]);
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
    <div className="search-body">
      <p role="status" className="field-hint">
        {text(page.total_results === 0 ? "search.none" : "search.results", { count: page.total_results })}
      </p>
      <SearchResults guildId={guild.id} messages={page.messages.flat()} />
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

/** The ids of the users and channels that typed filters name. */
function namesOf(state: State, guildId: string) {
  const same = (a: string | null | undefined, b: string) => a?.toLowerCase() === b.toLowerCase();
  return {
    user: (name: string) =>
      Object.values(state.members[guildId] ?? {}).find(
        ({ user, nick }) => same(user.username, name) || same(user.global_name, name) || same(nick, name),
      )?.user.id ?? null,
    channel: (name: string) =>
      viewableChannels(state, guildId).find((channel) => same(channelName(state, channel), name))?.id ?? null,
  };
}
