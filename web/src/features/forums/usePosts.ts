import { useInfiniteQuery } from "@tanstack/react-query";
import type { APIThreadChannel } from "discord-api-types/v10";
import { useDeferredValue, useMemo } from "react";

import { searchThreads } from "../../api/threads";
import { putThreads, setFirstMessages, threadsOf } from "../../store/threads";
import { useAppState, useSession } from "../session/session";
import { listPosts, type PostFilter, type PostOrder } from "./posts";

export interface Posts {
  posts: readonly APIThreadChannel[];
  /** Posts whose first messages were loaded; of the others it is not known yet. */
  loadedIds: ReadonlySet<string>;
  isPending: boolean;
  error: unknown;
  hasMore: boolean;
  loadMore: () => void;
}

/** The posts of a forum: active ones from the gateway, archived ones and first messages page by page. */
export function usePosts(forumId: string, filter: PostFilter, order: PostOrder): Posts {
  const { api, store } = useSession();
  const channels = useAppState((state) => state.channels);
  const search = useDeferredValue(filter);
  const pages = useInfiniteQuery({
    queryKey: ["posts", forumId, search, order],
    queryFn: async ({ pageParam }) => {
      const name = search.name.trim();
      const page = await searchThreads(api, forumId, {
        tags: search.tags,
        matchAll: search.matchAll,
        sortBy: order === "activity" ? "last_message_time" : "creation_time",
        offset: pageParam,
        ...(name !== "" && { name }),
      });
      store.update((state) =>
        setFirstMessages(
          putThreads(state, page.threads as APIThreadChannel[], page.members),
          page.first_messages ?? [],
        ),
      );
      return { ids: page.threads.map((thread) => thread.id), hasMore: page.has_more === true };
    },
    initialPageParam: 0,
    getNextPageParam: (page, all) =>
      page.hasMore ? all.reduce((count, each) => count + each.ids.length, 0) : undefined,
    staleTime: 0,
  });
  const posts = useMemo(
    () => listPosts(threadsOf(channels, forumId), filter, order),
    [channels, forumId, filter, order],
  );
  const loadedIds = useMemo(() => new Set(pages.data?.pages.flatMap((page) => page.ids)), [pages.data]);
  return {
    posts,
    loadedIds,
    isPending: pages.isPending,
    error: pages.error,
    hasMore: pages.hasNextPage,
    loadMore: () => {
      if (pages.hasNextPage && !pages.isFetchingNextPage) {
        void pages.fetchNextPage();
      }
    },
  };
}
