import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query";
import { useDeferredValue } from "react";

import { ROWS_PER_PAGE } from "../../api/admin";
import type { ApiClient } from "../../api/client";
import { useSession } from "../session/session";

/** A list that is read in pages, by what the last row of a page is called; read anew where `filter` changes. */
export function usePages<Row, Filter>(
  name: string,
  filter: Filter,
  read: (api: ApiClient, filter: Filter, before: string | undefined) => Promise<Row[]>,
  keyOf: (row: Row) => string,
) {
  const { api, account } = useSession();
  const chosen = useDeferredValue(filter);
  const query = useInfiniteQuery({
    queryKey: [account.userId, "admin", name, chosen],
    queryFn: ({ pageParam }) => read(api, chosen, pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page: Row[]) => {
      const last = page.at(-1);
      return page.length < ROWS_PER_PAGE || last === undefined ? undefined : keyOf(last);
    },
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 0,
  });
  return { query, rows: (query.data?.pages ?? []).flat() };
}
