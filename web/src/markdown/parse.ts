import { parseBlocks } from "./blocks";
import type { Meter, Node } from "./nodes";

export type { Node } from "./nodes";

/**
 * Parse the text of a message. It never throws: what cannot be parsed is text. The tree is at most some 20 nodes deep
 * and the work grows with the text's length alone, whatever it holds: everybody's screens show what one person writes.
 */
export function parse(content: string, meter: Meter = { steps: 0 }): Node[] {
  try {
    return parseBlocks(content, meter);
  } catch (error) {
    console.warn("A text could not be parsed", error);
    return [{ type: "paragraph", children: [{ type: "text", text: content }] }];
  }
}
