import type { UseQueryResult } from "@tanstack/react-query";
import type { ReactNode } from "react";

import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { useErrorText } from "../session/useAction";

interface QueryListProps<T> {
  query: UseQueryResult<readonly T[]>;
  /** What stands in place of no entries. */
  none: string;
  children: (item: T) => ReactNode;
}

/** The entries of a query: placeholders while it loads, a button to try again when it failed. */
export function QueryList<T>({ query, none, children }: QueryListProps<T>) {
  const text = useText();
  const errorText = useErrorText();
  if (query.isPending) {
    return (
      <div className="preferences-list" aria-busy="true">
        <div className="skeleton settings-skeleton" />
        <div className="skeleton settings-skeleton" />
      </div>
    );
  }
  if (query.isError) {
    return (
      <div role="alert" className="preferences-row">
        <span className="preferences-text">{errorText(query.error)}</span>
        <Button onPress={() => void query.refetch()}>{text("common.retry")}</Button>
      </div>
    );
  }
  return query.data.length === 0 ? (
    <p className="settings-empty">{none}</p>
  ) : (
    <ul className="preferences-list">{query.data.map(children)}</ul>
  );
}
