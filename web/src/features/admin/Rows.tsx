import type { ReactNode } from "react";

import type { MessageId } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { Button } from "../../ui/controls";
import { ErrorNotice } from "../session/ErrorNotice";
import { SettingsSkeleton } from "../shell/SettingsFrame";

interface RowsProps<Row> {
  label: MessageId;
  columns: readonly MessageId[];
  query: {
    error: Error | null;
    isPending: boolean;
    isSuccess: boolean;
    /** Absent for a list that is read as a whole. */
    hasNextPage?: boolean;
    isFetchingNextPage?: boolean;
    fetchNextPage?: () => Promise<unknown>;
  };
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** The cells of a row: one for each column. */
  cells: (row: Row) => readonly ReactNode[];
}

/** A table of a list that is read in pages. On narrow screens each row is a card. */
export function Rows<Row>({ label, columns, query, rows, keyOf, cells }: RowsProps<Row>) {
  const text = useText();
  return (
    <>
      <ErrorNotice error={query.error} />
      {query.isPending && <SettingsSkeleton />}
      {query.isSuccess && rows.length === 0 && <p className="admin-empty">{text("admin.empty")}</p>}
      {rows.length > 0 && (
        <table className="admin-table" aria-label={text(label)}>
          <thead>
            <tr>
              {columns.map((column) => (
                <th key={column} scope="col">
                  {text(column)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={keyOf(row)}>
                {cells(row).map((cell, index) => (
                  <td key={columns[index]} data-label={text(columns[index] ?? label)}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {query.hasNextPage === true && (
        <Button isDisabled={query.isFetchingNextPage === true} onPress={() => void query.fetchNextPage?.()}>
          {text(query.isFetchingNextPage === true ? "app.loading" : "admin.more")}
        </Button>
      )}
    </>
  );
}
