import { parseInline } from "./inline";
import { append, type Meter, type Node } from "./nodes";

/** Lists in deeper ones have the deepest one's level. */
const MAX_LISTS = 6;

type List = Extract<Node, { type: "list" }>;

/** A list that more lines can belong to. */
export interface OpenList {
  indent: number;
  list: List;
}

/**
 * Add a line to the lists that are open: an item, or more text of the last one. Returns a list that begins with the line
 * and stands in none of those; "continued" for a line of theirs; null for a line that is part of no list.
 */
export function addListLine(open: OpenList[], line: string, meter: Meter): List | "continued" | null {
  const indent = line.length - line.trimStart().length;
  const item = /^([-*]|(\d{1,9})\.) +(\S.*)$/.exec(line.slice(indent));
  if (item === null) {
    const items = open.at(-1)?.list.items;
    const last = items?.at(-1);
    if (last === undefined || indent < 2) {
      return null;
    }
    append(last, { type: "break" });
    parseInline(line.trimStart(), meter).forEach((node) => append(last, node));
    return "continued";
  }
  const children = parseInline(item[3] ?? "", meter);
  const ordered = item[2] !== undefined;
  while (open.length > 1 && indent < (open.at(-1)?.indent ?? 0)) {
    open.pop();
  }
  const current = open.at(-1);
  const isDeeper = current !== undefined && indent >= current.indent + 2 && open.length < MAX_LISTS;
  if (current !== undefined && !isDeeper && current.list.ordered === ordered) {
    current.list.items.push(children);
    return "continued";
  }
  const list: List = { type: "list", ordered, start: Number(item[2] ?? 1), items: [children] };
  if (current !== undefined && isDeeper) {
    current.list.items.at(-1)?.push(list);
  } else {
    open.pop();
    const parent = open.at(-1);
    if (parent === undefined) {
      open.push({ indent, list });
      return list;
    }
    parent.list.items.at(-1)?.push(list);
  }
  open.push({ indent, list });
  return "continued";
}
