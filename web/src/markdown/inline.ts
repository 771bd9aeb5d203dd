import { atomAt, autolinkAt, destinationAt } from "./atoms";
import { build, type Bracket, type Delimiter, type Kind, type Piece } from "./build";
import type { Meter, Node } from "./nodes";

/** Characters that begin nothing; the others are looked at one by one. */
const PLAIN = /[^\\`*_~|[\]<@hH\n]+/y;
const DELIMITERS = new Set(["*", "_", "~", "|"]);
const ESCAPABLE = /[!-/:-@[-`{-~]/;
/** Longer runs of a delimiter are text. */
const MAX_RUN = 3;

interface Scanner {
  source: string;
  position: number;
  meter: Meter;
  pieces: Piece[];
  /** Delimiters that may still be closed, in order. */
  open: Delimiter[];
  /** Brackets that may still be closed, in order. */
  brackets: Bracket[];
  /** How many of the open delimiters could be closed by two characters, and by one: so none is looked for in vain. */
  pairs: Record<string, number>;
  singles: Record<string, number>;
  /** Where the next runs of backticks of each length are. */
  backticks: Map<number, number[]>;
}

/** Parse text within a paragraph: formatting, links, mentions, emojis. One pass, without looking back. */
export function parseInline(source: string, meter: Meter): Node[] {
  const scanner: Scanner = {
    source,
    position: 0,
    meter,
    pieces: [],
    open: [],
    brackets: [],
    pairs: {},
    singles: {},
    backticks: backtickRuns(source),
  };
  meter.steps += source.length;
  while (scanner.position < source.length) {
    meter.steps += 1;
    scan(scanner);
  }
  return build(scanner.pieces, source, meter);
}

function scan(scanner: Scanner): void {
  const { source, position } = scanner;
  PLAIN.lastIndex = position;
  const plain = PLAIN.exec(source);
  if (plain !== null) {
    addText(scanner, plain[0]);
    return;
  }
  const char = source[position] ?? "";
  if (DELIMITERS.has(char)) {
    scanDelimiters(scanner, char);
  } else if (char === "\n") {
    addNode(scanner, { type: "break" }, 1);
  } else if (char === "\\") {
    const next = source[position + 1] ?? "";
    scanner.position += ESCAPABLE.test(next) ? 1 : 0;
    addText(scanner, source[scanner.position] ?? "");
  } else if (char === "`") {
    scanCode(scanner);
  } else if (char === "[") {
    const bracket: Bracket = { type: "bracket", position, depth: scanner.open.length, link: null };
    scanner.pieces.push(bracket);
    scanner.brackets.push(bracket);
    scanner.position += 1;
  } else if (char === "]") {
    scanLinkEnd(scanner);
  } else {
    scanAtom(scanner, char);
  }
}

function addText(scanner: Scanner, text: string): void {
  scanner.pieces.push({ type: "node", node: { type: "text", text } });
  scanner.position += text.length;
}

function addNode(scanner: Scanner, node: Node, length: number): void {
  scanner.pieces.push({ type: "node", node });
  scanner.position += length;
}

function scanAtom(scanner: Scanner, char: string): void {
  const { source, position, meter } = scanner;
  const atom = char === "<" || char === "@" ? atomAt(source, position) : null;
  if (atom !== null) {
    addNode(scanner, atom.node, atom.length);
    return;
  }
  const link = autolinkAt(source, position);
  if (link === null) {
    addText(scanner, char);
    return;
  }
  meter.steps += link.length;
  addNode(scanner, link.node, link.length);
}

/** The positions of the runs of backticks by their length, the first one last. */
function backtickRuns(source: string): Map<number, number[]> {
  const runs = new Map<number, number[]>();
  for (const match of source.matchAll(/`+/g)) {
    const positions = runs.get(match[0].length) ?? [];
    runs.set(match[0].length, positions);
    positions.push(match.index);
  }
  runs.forEach((positions) => positions.reverse());
  return runs;
}

/** Code from a run of backticks to the next one of the same length. */
function scanCode(scanner: Scanner): void {
  const { source, position, backticks, meter } = scanner;
  let length = 1;
  while (source[position + length] === "`") {
    length += 1;
  }
  const positions = backticks.get(length) ?? [];
  while (positions.length > 0 && (positions.at(-1) ?? 0) <= position) {
    meter.steps += 1;
    positions.pop();
  }
  const close = positions.at(-1);
  if (close === undefined) {
    addText(scanner, source.slice(position, position + length));
    return;
  }
  const inner = source.slice(position + length, close).replaceAll("\n", " ");
  const isPadded = inner.startsWith(" ") && inner.endsWith(" ") && inner.trim() !== "";
  const text = isPadded ? inner.slice(1, -1) : inner;
  addNode(scanner, { type: "code", text }, close + length - position);
}

/** Close the last bracket that is open if a destination follows; what is between them is a link then. */
function scanLinkEnd(scanner: Scanner): void {
  const { source, position, brackets, meter } = scanner;
  const hasDestination = brackets.length > 0 && source[position + 1] === "(";
  const destination = hasDestination ? destinationAt(source, position + 2, meter) : null;
  const bracket = brackets.at(-1);
  if (bracket === undefined || destination === null) {
    addText(scanner, "]");
    return;
  }
  bracket.link = destination;
  // Links have no links in them, and what begins within one does not end after it.
  brackets.length = 0;
  while (scanner.open.length > bracket.depth) {
    drop(scanner);
  }
  scanner.pieces.push({ type: "linkEnd" });
  scanner.position = destination.end;
}

/** Handle a run of delimiters: it closes what is open, and the rest of it may be closed later. */
function scanDelimiters(scanner: Scanner, char: string): void {
  const { source, position } = scanner;
  // Spoilers may stand side by side: their marks are taken two by two.
  const limit = char === "|" ? 2 : Infinity;
  let length = 1;
  while (source[position + length] === char && length < limit) {
    length += 1;
  }
  scanner.meter.steps += length;
  const isText = length > MAX_RUN || (length !== 2 && (char === "|" || char === "~"));
  if (isText) {
    addText(scanner, source.slice(position, position + length));
    return;
  }
  const run: Delimiter = {
    type: "delimiter",
    char,
    position,
    length,
    remaining: length,
    closes: [],
    opens: [],
  };
  scanner.pieces.push(run);
  scanner.position += length;
  const before = source[position - 1] ?? " ";
  const after = source[position + length] ?? " ";
  const isInWord = (other: string) => char === "_" && length === 1 && /[\p{L}\p{N}_]/u.test(other);
  if (char === "|" || (!/\s/.test(before) && !isInWord(after))) {
    close(scanner, run);
  }
  if (run.remaining > 0 && (char === "|" || (!/\s/.test(after) && !isInWord(before)))) {
    scanner.open.push(run);
    count(scanner, run, 1);
  }
}

/** Match a run with the open ones before it, the nearest first. Those in between are text for good. */
function close(scanner: Scanner, run: Delimiter): void {
  const { open, pairs, singles, brackets } = scanner;
  const { char } = run;
  for (;;) {
    const isPair = run.remaining >= 2 && (pairs[char] ?? 0) > 0;
    const isSingle = run.remaining % 2 === 1 && (singles[char] ?? 0) > 0;
    if (!isPair && !isSingle) {
      return;
    }
    let size = 0;
    let opener = open.at(-1);
    while (opener !== undefined) {
      scanner.meter.steps += 1;
      size = opener.char === char ? matchedSize(opener, run) : 0;
      if (size > 0) {
        break;
      }
      drop(scanner);
      opener = open.at(-1);
    }
    if (opener === undefined || opener.position + opener.length === run.position) {
      return;
    }
    while ((brackets.at(-1)?.depth ?? 0) >= open.length) {
      brackets.pop();
    }
    drop(scanner);
    const kind = kindOf(char, size);
    opener.opens.push(kind);
    run.closes.push(kind);
    opener.remaining -= size;
    run.remaining -= size;
    if (opener.remaining > 0) {
      open.push(opener);
      count(scanner, opener, 1);
    }
  }
}

/** How many characters of two runs match: two of each or, where both have one over, one. */
function matchedSize(opener: Delimiter, run: Delimiter): 0 | 1 | 2 {
  if (opener.remaining >= 2 && run.remaining >= 2) {
    return 2;
  }
  return opener.remaining % 2 === 1 && run.remaining % 2 === 1 ? 1 : 0;
}

/** Remove the last open delimiter: nothing closes it any more. */
function drop(scanner: Scanner): void {
  const delimiter = scanner.open.pop();
  if (delimiter !== undefined) {
    count(scanner, delimiter, -1);
  }
}

function count(scanner: Scanner, { char, remaining }: Delimiter, by: 1 | -1): void {
  if (remaining >= 2) {
    scanner.pairs[char] = (scanner.pairs[char] ?? 0) + by;
  }
  if (remaining % 2 === 1) {
    scanner.singles[char] = (scanner.singles[char] ?? 0) + by;
  }
}

function kindOf(char: string, size: number): Kind {
  if (char === "~") {
    return "strike";
  }
  if (char === "|") {
    return "spoiler";
  }
  if (size === 1) {
    return "emphasis";
  }
  return char === "*" ? "strong" : "underline";
}
