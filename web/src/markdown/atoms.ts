import type { Meter, Node } from "./nodes";
import { safeUrl, shownAddress } from "./urls";

interface Atom {
  node: Node;
  length: number;
}

/** Patterns without children; each looks at a bounded number of characters. */
const ATOMS: readonly [RegExp, (match: RegExpExecArray) => Node][] = [
  [/<@!?(\d{1,20})>/y, ([, id = ""]) => ({ type: "userMention", id })],
  [/<@&(\d{1,20})>/y, ([, id = ""]) => ({ type: "roleMention", id })],
  [/<#(\d{1,20})>/y, ([, id = ""]) => ({ type: "channelMention", id })],
  [
    /<(a?):(\w{1,32}):(\d{1,20})>/y,
    ([, animated, name = "", id = ""]) => ({ type: "emoji", animated: animated === "a", name, id }),
  ],
  [
    /<t:(-?\d{1,13})(?::([tTdDfFR]))?>/y,
    ([, seconds = "0", style = "f"]) => ({ type: "timestamp", seconds: Number(seconds), style }),
  ],
  [/@(?:everyone|here)\b/y, ([text]) => ({ type: "everyoneMention", text })],
];

/** The mention, emoji or timestamp that begins at a position. */
export function atomAt(source: string, position: number): Atom | null {
  for (const [pattern, nodeOf] of ATOMS) {
    pattern.lastIndex = position;
    const match = pattern.exec(source);
    if (match !== null) {
      return { node: nodeOf(match), length: match[0].length };
    }
  }
  return null;
}

/** An address ends before the end of a spoiler and of a link's label. */
const ADDRESS = /https?:\/\/(?:[^\s<>`|\]]|\|(?!\|)|\](?!\())+/iy;
const BRACKETED = /<(https?:\/\/[^\s<>]+)>/iy;
const PUNCTUATION = new Set("?!.,:;*_~'\"");

/** The address that begins at a position; text if it is none, so that it is not looked at again. */
export function autolinkAt(source: string, position: number): Atom | null {
  BRACKETED.lastIndex = position;
  const bracketed = BRACKETED.exec(source);
  if (bracketed !== null) {
    return { node: linkNode(bracketed[1] ?? "") ?? textNode(bracketed[0]), length: bracketed[0].length };
  }
  ADDRESS.lastIndex = position;
  const match = ADDRESS.exec(source);
  if (match === null) {
    return null;
  }
  const address = match[0].slice(0, addressEnd(match[0]));
  const link = linkNode(address);
  return link === null
    ? { node: textNode(match[0]), length: match[0].length }
    : { node: link, length: address.length };
}

/** Where an address ends: before punctuation, and before a parenthesis that it does not open. */
function addressEnd(address: string): number {
  let end = address.length;
  let unopened = address.split(")").length - address.split("(").length;
  for (;;) {
    const last = address[end - 1] ?? "";
    if (last === ")" && unopened > 0) {
      unopened -= 1;
    } else if (!PUNCTUATION.has(last)) {
      return end;
    }
    end -= 1;
  }
}

function textNode(text: string): Node {
  return { type: "text", text };
}

function linkNode(address: string): Node | null {
  const url = safeUrl(address);
  return url === null ? null : { type: "link", url, children: [textNode(shownAddress(address, url))] };
}

/** The longest address of a link, with its title. */
const MAX_DESTINATION = 2_500;

/**
 * The destination of a link after its opening parenthesis: an address, perhaps between angle brackets, with a title
 * that nothing shows. Parentheses are allowed one within another, so that few characters are looked at twice.
 */
export function destinationAt(
  source: string,
  start: number,
  meter: Meter,
): { url: string | null; end: number } | null {
  const limit = Math.min(source.length, start + MAX_DESTINATION);
  const isAt = (position: number, chars: string) =>
    position < limit && chars.includes(source[position] ?? "");
  const skip = (position: number, until: (position: number) => boolean) => {
    let next = position;
    while (next < limit && !until(next)) {
      next += 1;
    }
    meter.steps += next - position + 1;
    return next;
  };
  const isSpace = (position: number) => isAt(position, " \t\n");
  const begin = skip(start, (position) => !isSpace(position));
  let end: number;
  let address: string;
  if (isAt(begin, "<")) {
    end = skip(begin + 1, (position) => isAt(position, "<>\n"));
    address = source.slice(begin + 1, end);
    if (!isAt(end, ">")) {
      return null;
    }
    end += 1;
  } else {
    end = skip(begin, (position) => isAt(position, " \t\n()<"));
    while (isAt(end, "(")) {
      const close = skip(end + 1, (position) => isAt(position, " \t\n()<"));
      if (!isAt(close, ")")) {
        return null;
      }
      end = skip(close + 1, (position) => isAt(position, " \t\n()<"));
    }
    address = source.slice(begin, end);
  }
  let close = skip(end, (position) => !isSpace(position));
  if (close > end && isAt(close, '"')) {
    const quote = skip(close + 1, (position) => isAt(position, '"'));
    close = isAt(quote, '"') ? skip(quote + 1, (position) => !isSpace(position)) : quote;
  }
  return isAt(close, ")") ? { url: safeUrl(address), end: close + 1 } : null;
}
