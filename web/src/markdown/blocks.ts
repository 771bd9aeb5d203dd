import { parseInline } from "./inline";
import { addListLine, type OpenList } from "./lists";
import type { Meter, Node } from "./nodes";
import { visible } from "./invisible";

const FENCE = "```";

interface Reader {
  source: string;
  position: number;
  /** Where the line at the position ends, once it is known. */
  lineEnd: number;
  /** Whether no fence closes from here on, so that none needs to be looked for. */
  noFence: boolean;
  /** Quotes have no quotes in them: a mark there is text. */
  isQuoted: boolean;
  meter: Meter;
  nodes: Node[];
  /** The lines of the paragraph that is being read. */
  paragraph: string[];
  /** The list that is being read, and those in it. */
  lists: OpenList[];
}

/** Parse a text line by line: headings, lists, quotes, blocks of code and paragraphs. */
export function parseBlocks(source: string, meter: Meter, isQuoted = false): Node[] {
  const reader: Reader = {
    source: source.includes("\r") ? source.replaceAll(/\r\n?/g, "\n") : source,
    position: 0,
    lineEnd: -1,
    noFence: false,
    isQuoted,
    meter,
    nodes: [],
    paragraph: [],
    lists: [],
  };
  while (reader.position < reader.source.length) {
    readLine(reader);
  }
  endParagraph(reader);
  return reader.nodes;
}

function readLine(reader: Reader): void {
  const { source, position, meter } = reader;
  meter.steps += 1;
  if (reader.lineEnd < position) {
    const newline = source.indexOf("\n", position);
    reader.lineEnd = newline < 0 ? source.length : newline;
    meter.steps += reader.lineEnd - position;
  }
  const end = reader.lineEnd;
  if (!reader.isQuoted && readQuote(reader)) {
    return;
  }
  const code = codeBlockFrom(reader, end);
  if (code !== null) {
    const before = source.slice(position, code.start);
    if (before !== "") {
      addLine(reader, before);
    }
    addBlock(reader, code.node);
    // What follows in the fence's line begins a paragraph; a line that ends with the fence is over.
    reader.position = source[code.end] === "\n" ? code.end + 1 : code.end;
    return;
  }
  addLine(reader, source.slice(position, end));
  reader.position = end + 1;
}

/** Add a line of text that has no block of code. */
function addLine(reader: Reader, line: string): void {
  const { meter, lists } = reader;
  if (line.trim() === "") {
    endParagraph(reader);
    return;
  }
  const heading = /^(#{1,3}) +(\S.*)$/.exec(line);
  if (heading !== null) {
    const level = (heading[1] ?? "").length as 1 | 2 | 3;
    addBlock(reader, { type: "heading", level, children: parseInline(heading[2] ?? "", meter) });
    return;
  }
  if (line.startsWith("-# ") && line.length > 3) {
    addBlock(reader, { type: "subtext", children: parseInline(line.slice(3), meter) });
    return;
  }
  const list = addListLine(lists, line, meter);
  if (list === "continued") {
    return;
  }
  if (list === null) {
    lists.length = 0;
    reader.paragraph.push(line);
  } else {
    const open = [...lists];
    endParagraph(reader);
    reader.lists.push(...open);
    reader.nodes.push(list);
  }
}

function addBlock(reader: Reader, node: Node): void {
  endParagraph(reader);
  reader.nodes.push(node);
}

/** End the paragraph or list that is being read. */
function endParagraph(reader: Reader): void {
  reader.lists.length = 0;
  if (reader.paragraph.length > 0) {
    const children = parseInline(reader.paragraph.join("\n"), reader.meter);
    reader.nodes.push({ type: "paragraph", children });
    reader.paragraph = [];
  }
}

/** Read the lines of a quote: each begins with its mark, or after `>>> ` all that follow belong to it. */
function readQuote(reader: Reader): boolean {
  const { source, meter } = reader;
  const lines: string[] = [];
  let { position } = reader;
  if (source.startsWith(">>> ", position)) {
    lines.push(source.slice(position + 4));
    position = source.length;
  }
  while (source.startsWith(">", position)) {
    const newline = source.indexOf("\n", position);
    const end = newline < 0 ? source.length : newline;
    const isMark = source[position + 1] === " ";
    // A mark alone is an empty line within a quote, not the beginning of one.
    if (!isMark && !(lines.length > 0 && end === position + 1)) {
      break;
    }
    lines.push(source.slice(position + 2, end));
    meter.steps += 1 + end - position;
    position = end + 1;
  }
  if (lines.length === 0) {
    return false;
  }
  addBlock(reader, { type: "quote", children: parseBlocks(lines.join("\n"), meter, true) });
  reader.position = position;
  return true;
}

interface CodeMatch {
  start: number;
  end: number;
  node: Node;
}

/** The first block of code that begins before `end`: from one fence to the next, which may be within a line. */
function codeBlockFrom(reader: Reader, end: number): CodeMatch | null {
  const { source } = reader;
  let { position } = reader;
  while (!reader.noFence) {
    const start = source.indexOf(FENCE, position);
    const close = start < 0 ? -1 : source.indexOf(FENCE, start + FENCE.length);
    if (close < 0) {
      reader.noFence = true;
      return null;
    }
    if (start >= end) {
      return null;
    }
    reader.meter.steps += 1 + close - start;
    const node = codeNode(source.slice(start + FENCE.length, close));
    if (node !== null) {
      return { start, end: close + FENCE.length, node };
    }
    position = start + 1;
  }
  return null;
}

/** A block of code, with a language if its first line is one; null without any code. */
function codeNode(inner: string): Node | null {
  const newline = inner.indexOf("\n");
  const line = newline < 0 ? inner : inner.slice(0, newline);
  const code = newline < 0 ? "" : inner.slice(newline + 1);
  const hasLanguage = /^[\w+\-.#]+$/.test(line) && code.trim() !== "";
  const text = (hasLanguage ? code : inner).replace(/^\n+/, "").trimEnd();
  return text === "" ? null : { type: "codeBlock", language: hasLanguage ? line : "", text: visible(text) };
}
