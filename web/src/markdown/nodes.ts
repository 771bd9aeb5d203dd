/** The nodes of a message's text. */
export type Node =
  | { type: "text"; text: string }
  | { type: "strong" | "emphasis" | "underline" | "strike" | "spoiler"; children: Node[] }
  | { type: "code"; text: string }
  | { type: "codeBlock"; language: string; text: string }
  | { type: "link"; url: string; children: Node[] }
  | { type: "paragraph"; children: Node[] }
  | { type: "heading"; level: 1 | 2 | 3; children: Node[] }
  | { type: "subtext"; children: Node[] }
  | { type: "quote"; children: Node[] }
  | { type: "list"; ordered: boolean; start: number; items: Node[][] }
  | { type: "break" }
  | { type: "userMention" | "channelMention" | "roleMention"; id: string }
  | { type: "everyoneMention"; text: string }
  | { type: "emoji"; id: string; name: string; animated: boolean }
  | { type: "timestamp"; seconds: number; style: string };

/** Counts the work of parsing: characters looked at, and pieces handled. It is to grow with the text's length alone. */
export interface Meter {
  steps: number;
}

/** Add a node to a list; text joins the text before it. */
export function append(nodes: Node[], node: Node): void {
  const last = nodes.at(-1);
  if (node.type === "text" && last?.type === "text") {
    last.text += node.text;
  } else if (node.type !== "text" || node.text !== "") {
    nodes.push(node);
  }
}

/** The text of nodes without their formatting. */
export function textOf(node: Node): string {
  switch (node.type) {
    case "text":
    case "code":
    case "codeBlock":
    case "everyoneMention":
      return node.text;
    case "emoji":
      return `:${node.name}:`;
    case "break":
      return " ";
    case "spoiler":
      return "▒▒▒";
    case "list":
      return node.items.map((item) => item.map(textOf).join("")).join(" ");
    case "userMention":
      return "@…";
    case "channelMention":
    case "roleMention":
    case "timestamp":
      return "…";
    default:
      return node.children.map(textOf).join("");
  }
}
