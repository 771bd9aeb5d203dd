import type { APIMessage } from "discord-api-types/v10";

/** A row in the place of consecutive messages of blocked users. */
export interface BlockedRow {
  kind: "blocked";
  /** Contains the id of the first message, so that it stays the same when messages follow. */
  key: string;
  count: number;
  expanded: boolean;
}

/** Put one row in the place of consecutive messages of blocked users; those of `expanded` keep their messages below. */
export function collapseBlocked<Row extends { kind: string; message?: APIMessage }>(
  rows: readonly Row[],
  isBlocked: (userId: string) => boolean,
  expanded: ReadonlySet<string>,
): (Row | BlockedRow)[] {
  const result: (Row | BlockedRow)[] = [];
  let group: BlockedRow | null = null;
  for (const row of rows) {
    const { message } = row;
    if (message === undefined || !isBlocked(message.author.id)) {
      group = null;
      result.push(row);
      continue;
    }
    if (group === null) {
      const key = `blocked ${message.id}`;
      group = { kind: "blocked", key, count: 0, expanded: expanded.has(key) };
      result.push(group);
    }
    group.count += 1;
    if (group.expanded) {
      result.push(row);
    }
  }
  return result;
}
