import { isDeceptive } from "./deception";
import { visible } from "./invisible";
import { append, textOf, type Meter, type Node } from "./nodes";

/** What stands between two marks of formatting. */
export type Kind = "strong" | "emphasis" | "underline" | "strike" | "spoiler";

/** A run of marks such as `**`, which closes what is before it and opens what follows; what remains is text. */
export interface Delimiter {
  type: "delimiter";
  char: string;
  position: number;
  length: number;
  remaining: number;
  closes: Kind[];
  opens: Kind[];
}

/** An opening bracket: of a link if a destination follows the closing one. */
export interface Bracket {
  type: "bracket";
  position: number;
  /** How many delimiters were open before it. */
  depth: number;
  link: { url: string | null; end: number } | null;
}

export type Piece = { type: "node"; node: Node } | Delimiter | Bracket | { type: "linkEnd" };

/** Formatting in deeper formatting is text: it bounds what a screen has to draw. */
const MAX_DEPTH = 12;

interface Frame {
  nodes: Node[];
  /** The marks of formatting that is too deep and stays text. */
  literal: string | null;
  link: Bracket | null;
}

/** The tree of the pieces of a text, in which every opening mark has its closing one. */
export function build(pieces: readonly Piece[], source: string, meter: Meter): Node[] {
  const root: Frame = { nodes: [], literal: null, link: null };
  const frames: Frame[] = [root];
  for (const piece of pieces) {
    meter.steps += 1;
    const top = frames.at(-1) ?? root;
    switch (piece.type) {
      case "node":
        append(top.nodes, shown(piece.node));
        break;
      case "bracket":
        if (piece.link === null) {
          append(top.nodes, { type: "text", text: "[" });
        } else {
          openFrame(frames, "[", piece);
        }
        break;
      case "linkEnd":
        closeLink(frames, source);
        break;
      case "delimiter":
        piece.closes.forEach((kind) => closeFrame(frames, kind));
        append((frames.at(-1) ?? root).nodes, { type: "text", text: piece.char.repeat(piece.remaining) });
        piece.opens.toReversed().forEach((kind) => openFrame(frames, markOf(kind, piece.char), null));
    }
  }
  return root.nodes;
}

function shown(node: Node): Node {
  return node.type === "text" || node.type === "code" ? { ...node, text: visible(node.text) } : node;
}

function markOf(kind: Kind, char: string): string {
  return kind === "emphasis" ? char : char + char;
}

function openFrame(frames: Frame[], mark: string, link: Bracket | null): void {
  const parent = frames.at(-1);
  if (parent !== undefined && frames.length > MAX_DEPTH) {
    append(parent.nodes, { type: "text", text: mark });
    frames.push({ nodes: parent.nodes, literal: mark, link });
  } else {
    frames.push({ nodes: [], literal: null, link });
  }
}

function closeFrame(frames: Frame[], kind: Kind): void {
  const frame = frames.pop();
  const parent = frames.at(-1);
  if (frame === undefined || parent === undefined) {
    return;
  }
  const isLiteral = frame.literal !== null;
  append(
    parent.nodes,
    isLiteral ? { type: "text", text: frame.literal ?? "" } : { type: kind, children: frame.nodes },
  );
}

/** A link with its label; its source where the label would mislead, is empty, or the destination is no web address. */
function closeLink(frames: Frame[], source: string): void {
  const frame = frames.pop();
  const parent = frames.at(-1);
  const link = frame?.link?.link;
  if (frame === undefined || parent === undefined || frame.link === null || !link) {
    return;
  }
  if (frame.literal !== null) {
    append(parent.nodes, { type: "text", text: `](${link.url ?? ""})` });
    return;
  }
  const children = frame.nodes.flatMap((node) => (node.type === "link" ? node.children : [node]));
  const label = children.map(textOf).join("");
  const raw = visible(source.slice(frame.link.position, link.end));
  if (link.url === null) {
    append(parent.nodes, { type: "text", text: raw });
  } else if (isDeceptive(label, link.url)) {
    // The source with its own address as the link.
    append(parent.nodes, { type: "text", text: `[${label}](` });
    append(parent.nodes, { type: "link", url: link.url, children: [{ type: "text", text: link.url }] });
    append(parent.nodes, { type: "text", text: ")" });
  } else {
    append(parent.nodes, { type: "link", url: link.url, children });
  }
}
