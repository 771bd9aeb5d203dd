import { parse, type Node } from "./parse";

/** The text of a message without its formatting, cut after a number of characters. Spoilers are left out. */
export function plainText(content: string, maxLength: number): string {
  const text = parse(content).map(textOf).join(" ").replaceAll(/\s+/g, " ").trim();
  return text.length <= maxLength ? text : `${text.slice(0, maxLength).trimEnd()}…`;
}

function textOf(node: Node): string {
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
