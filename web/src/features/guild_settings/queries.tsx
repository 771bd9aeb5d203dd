import { useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import type { ApiClient } from "../../api/client";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { useSession } from "../session/session";
import { useErrorText } from "../session/useAction";

/** Something of a guild that only its settings need, read anew whenever a screen shows it. */
export function useGuildQuery<T>(
  guildId: string,
  name: string,
  read: (api: ApiClient, guildId: string) => Promise<T>,
): UseQueryResult<T> {
  const { api, account } = useSession();
  return useQuery({
    queryKey: [account.userId, "guild", guildId, name],
    queryFn: () => read(api, guildId),
    retry: false,
    staleTime: 0,
  });
}

/** A function that reads something anew after it was changed. */
export function useRefresh(guildId: string): (name: string) => Promise<void> {
  const { account } = useSession();
  const client = useQueryClient();
  return (name) => client.invalidateQueries({ queryKey: [account.userId, "guild", guildId, name] });
}

/** Shows what a query returned; before, a skeleton of rows, and after a failure the reason. */
export function Loaded<T>({
  query,
  children,
}: {
  query: UseQueryResult<T>;
  children: (data: T) => ReactNode;
}) {
  const text = useText();
  const errorText = useErrorText();
  if (query.data !== undefined) {
    return children(query.data);
  }
  if (query.isError) {
    return (
      <div role="alert" className="notice notice-danger settings-failed">
        <span>{errorText(query.error)}</span>
        <Button onPress={() => void query.refetch()}>{text("common.retry")}</Button>
      </div>
    );
  }
  return <Skeleton />;
}

export function Skeleton() {
  const text = useText();
  return (
    <div className="stack" role="status" aria-label={text("app.loading")}>
      {[1, 2, 3, 4].map((row) => (
        <span key={row} className="skeleton settings-skeleton" />
      ))}
    </div>
  );
}
