import { textOf } from "./nodes";
import { parse } from "./parse";

/** The text of a message without its formatting, cut after a number of characters. Spoilers are left out. */
export function plainText(content: string, maxLength: number): string {
  const text = parse(content).map(textOf).join(" ").replaceAll(/\s+/g, " ").trim();
  return text.length <= maxLength ? text : `${text.slice(0, maxLength).trimEnd()}…`;
}
