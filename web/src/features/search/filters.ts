/** What messages can have, as the API names it. */
export const HAS_VALUES = [
  "link",
  "embed",
  "file",
  "image",
  "video",
  "sound",
  "sticker",
  "poll",
  "snapshot",
] as const;
export type HasValue = (typeof HAS_VALUES)[number];

export const AUTHOR_TYPES = ["user", "bot", "webhook"] as const;
export type AuthorType = (typeof AUTHOR_TYPES)[number];

export const SORTS = ["newest", "oldest", "relevance"] as const;
export type Sort = (typeof SORTS)[number];

/** What is searched for. Days are local, as `YYYY-MM-DD`. */
export interface SearchFilters {
  content: string;
  authorIds: readonly string[];
  mentionIds: readonly string[];
  channelIds: readonly string[];
  has: readonly HasValue[];
  authorType: AuthorType | null;
  pinned: boolean | null;
  before: string | null;
  after: string | null;
  during: string | null;
  sort: Sort;
}

export const NO_FILTERS: SearchFilters = {
  content: "",
  authorIds: [],
  mentionIds: [],
  channelIds: [],
  has: [],
  authorType: null,
  pinned: null,
  before: null,
  after: null,
  during: null,
  sort: "newest",
};

export const PAGE_SIZE = 25;
/** The API returns no more results than this. */
export const MAX_OFFSET = 9975;

const EPOCH_MS = 1_420_070_400_000;
const DAY_MS = 86_400_000;

/** Finds the ids of names; null for unknown ones. */
export interface Names {
  user: (name: string) => string | null;
  channel: (name: string) => string | null;
}

const OPERATOR = /(^|\s)(from|mentions|in|has|before|after|during|pinned|author):("[^"]*"|\S+)/gi;

/** Read operators such as `from:ada has:image` of a text into filters. Unknown names stay as text. */
export function readOperators(filters: SearchFilters, names: Names): SearchFilters {
  let read = filters;
  const content = filters.content.replace(
    OPERATOR,
    (whole, space: string, operator: string, quoted: string) => {
      const next = applyOperator(read, operator.toLowerCase(), quoted.replaceAll('"', ""), names);
      if (next === null) {
        return whole;
      }
      read = next;
      return space;
    },
  );
  return { ...read, content: content.replace(/\s+/g, " ").trim() };
}

function applyOperator(
  filters: SearchFilters,
  operator: string,
  value: string,
  names: Names,
): SearchFilters | null {
  switch (operator) {
    case "from":
      return withId(filters, "authorIds", names.user(value.replace(/^@/, "")));
    case "mentions":
      return withId(filters, "mentionIds", names.user(value.replace(/^@/, "")));
    case "in":
      return withId(filters, "channelIds", names.channel(value.replace(/^#/, "")));
    case "has": {
      const has = HAS_VALUES.find((each) => each === value.toLowerCase());
      return has === undefined ? null : { ...filters, has: [...new Set([...filters.has, has])] };
    }
    case "author": {
      const authorType = AUTHOR_TYPES.find((each) => each === value.toLowerCase());
      return authorType === undefined ? null : { ...filters, authorType };
    }
    case "pinned":
      return /^(?:true|false)$/i.test(value) ? { ...filters, pinned: value.toLowerCase() === "true" } : null;
    case "before":
    case "after":
    case "during":
      return startOfDay(value) === null ? null : { ...filters, [operator]: value };
    default:
      return null;
  }
}

function withId(
  filters: SearchFilters,
  list: "authorIds" | "mentionIds" | "channelIds",
  id: string | null,
): SearchFilters | null {
  return id === null ? null : { ...filters, [list]: [...new Set([...filters[list], id])] };
}

/** Whether anything is searched for. */
export function isEmpty(filters: SearchFilters): boolean {
  const { sort: _sort, ...rest } = filters;
  return Object.values(rest).every(
    (value) => value === null || value === "" || (Array.isArray(value) && !value.length),
  );
}

/** The parameters of a search for the page that begins with a result. */
export function searchQuery(filters: SearchFilters, offset: number) {
  const list = (values: readonly string[]) => (values.length === 0 ? undefined : values.join(","));
  const after = filters.during === null ? dayEnd(filters.after) : startOfDay(filters.during);
  const before = filters.during === null ? startOfDay(filters.before) : dayEnd(filters.during);
  return {
    content: filters.content === "" ? undefined : filters.content,
    author_id: list(filters.authorIds),
    mentions: list(filters.mentionIds),
    channel_id: list(filters.channelIds),
    has: list(filters.has),
    author_type: filters.authorType ?? undefined,
    pinned: filters.pinned ?? undefined,
    min_id: after === null ? undefined : idAt(after),
    max_id: before === null ? undefined : idAt(before),
    sort_by: filters.sort === "relevance" ? "relevance" : "timestamp",
    sort_order: filters.sort === "oldest" ? "asc" : "desc",
    limit: PAGE_SIZE,
    offset,
  };
}

/** The first moment of a local day, in milliseconds; null for none, or for a text that is no day. */
function startOfDay(day: string | null): number | null {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day ?? "");
  if (match === null) {
    return null;
  }
  const [year, month, date] = match.slice(1).map(Number) as [number, number, number];
  const start = new Date(year, month - 1, date);
  return start.getMonth() === month - 1 ? start.getTime() : null;
}

function dayEnd(day: string | null): number | null {
  const start = startOfDay(day);
  // The next day's first moment: days of a change of clocks are shorter or longer.
  return start === null ? null : startOfDay(toDay(new Date(start + 1.5 * DAY_MS)));
}

/** A local day as `YYYY-MM-DD`. */
export function toDay(date: Date): string {
  const pad = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}

/** The first id of a moment. */
function idAt(milliseconds: number): string {
  return (BigInt(Math.max(0, milliseconds - EPOCH_MS)) << 22n).toString();
}
