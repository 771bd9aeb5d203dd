import type { Node } from "./nodes";
import { parse } from "./parse";

/** The URLs of the links that a text has in spoilers; their previews are hidden until the reader reveals them. */
export function spoilerLinks(content: string): ReadonlySet<string> {
  const links = new Set<string>();
  if (content.includes("||")) {
    collect(parse(content), false, links);
  }
  return links;
}

function collect(nodes: readonly Node[], hidden: boolean, links: Set<string>): void {
  for (const node of nodes) {
    if (node.type === "link" && hidden) {
      links.add(node.url);
    }
    if (node.type === "list") {
      node.items.forEach((item) => collect(item, hidden, links));
    } else if ("children" in node) {
      collect(node.children, hidden || node.type === "spoiler", links);
    }
  }
}
