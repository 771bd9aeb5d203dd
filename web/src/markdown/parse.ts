import {
  Marked,
  type RendererThis,
  type Token,
  type TokenizerAndRendererExtension,
  type Tokens,
} from "marked";

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

/** Deeper nesting is shown as text: it bounds the work that a hostile message causes. */
const MAX_DEPTH = 12;

interface MatchToken extends Tokens.Generic {
  match: string[];
}

/** An inline extension for a pattern that begins at `start` and has no children. */
function atom(name: string, start: string, pattern: RegExp): TokenizerAndRendererExtension {
  return {
    name,
    level: "inline",
    start: (source: string) => {
      const index = source.indexOf(start);
      return index < 0 ? undefined : index;
    },
    tokenizer: (source: string) => {
      const match = pattern.exec(source);
      return match === null ? undefined : { type: name, raw: match[0], match: [...match] };
    },
    renderer(this: RendererThis) {
      return "";
    },
  };
}

/** An inline extension for text between two equal marks, such as `||spoilers||`. */
function pair(name: string, mark: string, pattern: RegExp): TokenizerAndRendererExtension {
  return {
    name,
    level: "inline",
    start: (source: string) => {
      const index = source.indexOf(mark);
      return index < 0 ? undefined : index;
    },
    tokenizer(source: string) {
      const match = pattern.exec(source);
      return match?.[1] === undefined
        ? undefined
        : { type: name, raw: match[0], tokens: this.lexer.inlineTokens(match[1]) };
    },
    renderer(this: RendererThis) {
      return "";
    },
  };
}

const subtext: TokenizerAndRendererExtension = {
  name: "subtext",
  level: "block",
  start: (source: string) => {
    const index = source.indexOf("-# ");
    return index < 0 ? undefined : index;
  },
  tokenizer(source: string) {
    const match = /^-# ([^\n]+)(?:\n|$)/.exec(source);
    return match?.[1] === undefined
      ? undefined
      : { type: "subtext", raw: match[0], tokens: this.lexer.inlineTokens(match[1]) };
  },
  renderer(this: RendererThis) {
    return "";
  },
};

const FENCE = "```";

interface CodeToken extends Tokens.Generic {
  language: string;
  text: string;
}

/** The block of code that a text begins with: from one fence to the next, a language on the first line of its own. */
function codeBlockAt(source: string): CodeToken | undefined {
  const end = source.indexOf(FENCE, FENCE.length);
  if (!source.startsWith(FENCE) || end < 0) {
    return undefined;
  }
  const inner = source.slice(FENCE.length, end);
  const [line = "", ...rest] = inner.split("\n");
  const code = rest.join("\n");
  const hasLanguage = /^[\w+\-.#]+$/.test(line) && code.trim() !== "";
  const text = (hasLanguage ? code : inner).replace(/^\n+/, "").trimEnd();
  return text === ""
    ? undefined
    : {
        type: "codeBlock",
        raw: source.slice(0, end + FENCE.length),
        language: hasLanguage ? line : "",
        text,
      };
}

/** Code between fences, which may begin and end within a line. A fence that nothing closes is text. */
const codeBlock: TokenizerAndRendererExtension = {
  name: "codeBlock",
  level: "block",
  start: (source: string) => {
    for (let index = source.indexOf(FENCE); index >= 0; index = source.indexOf(FENCE, index + 1)) {
      if (codeBlockAt(source.slice(index)) !== undefined) {
        return index;
      }
    }
    return undefined;
  },
  tokenizer: codeBlockAt,
  renderer(this: RendererThis) {
    return "";
  },
};

const marked = new Marked({
  gfm: true,
  breaks: true,
  tokenizer: {
    // Messages have no HTML, tables, rules, images, reference definitions or code by indentation.
    html: () => undefined,
    tag: () => undefined,
    table: () => undefined,
    hr: () => undefined,
    def: () => undefined,
    reflink: () => undefined,
    code: () => undefined,
    fences: () => undefined,
    lheading: () => undefined,
  },
  extensions: [
    pair("spoiler", "||", /^\|\|(?!\|)([^\n]*?[^|\n])\|\|/),
    pair("underline", "__", /^__(?!_)([^\n]*?[^_\n])__(?!_)/),
    atom("userMention", "<@", /^<@!?(\d{1,20})>/),
    atom("roleMention", "<@&", /^<@&(\d{1,20})>/),
    atom("channelMention", "<#", /^<#(\d{1,20})>/),
    atom("emoji", "<", /^<(a?):(\w{1,32}):(\d{1,20})>/),
    atom("timestamp", "<t:", /^<t:(-?\d{1,13})(?::([tTdDfFR]))?>/),
    atom("everyoneMention", "@", /^@(everyone|here)\b/),
    subtext,
    codeBlock,
  ],
});

/** Parse the text of a message. Never throws; the result is at most as deep as MAX_DEPTH. */
export function parse(content: string): Node[] {
  return convertAll(marked.lexer(content), 0);
}

function convertAll(tokens: readonly Token[], depth: number): Node[] {
  return tokens.flatMap((token) => convert(token, depth));
}

function convert(token: Token, depth: number): Node[] {
  if (depth > MAX_DEPTH) {
    return [{ type: "text", text: token.raw }];
  }
  const children = () => convertAll(("tokens" in token && token.tokens) || [], depth + 1);
  switch (token.type) {
    case "space":
      return [];
    case "text":
    case "escape":
      return "tokens" in token && token.tokens
        ? children()
        : [{ type: "text", text: decode((token as Tokens.Text).text) }];
    case "paragraph":
      return [{ type: "paragraph", children: children() }];
    case "heading": {
      const level = (token as Tokens.Heading).depth;
      return level <= 3
        ? [{ type: "heading", level: level as 1 | 2 | 3, children: children() }]
        : [{ type: "paragraph", children: [{ type: "text", text: token.raw.trimEnd() }] }];
    }
    case "subtext":
      return [{ type: "subtext", children: children() }];
    case "blockquote":
      return [{ type: "quote", children: children() }];
    case "list": {
      const list = token as Tokens.List;
      return [
        {
          type: "list",
          ordered: list.ordered,
          start: typeof list.start === "number" ? list.start : 1,
          items: list.items.map((item) => convertAll(item.tokens, depth + 1)),
        },
      ];
    }
    case "codeBlock": {
      const { language, text } = token as CodeToken;
      return [{ type: "codeBlock", language, text }];
    }
    case "codespan":
      return [{ type: "code", text: decode((token as Tokens.Codespan).text) }];
    case "strong":
      return [{ type: "strong", children: children() }];
    case "em":
      return [{ type: "emphasis", children: children() }];
    case "del":
      return [{ type: "strike", children: children() }];
    case "spoiler":
    case "underline":
      return [{ type: token.type, children: children() }];
    case "br":
      return [{ type: "break" }];
    case "link":
      return convertLink(token as Tokens.Link, children());
    case "userMention":
    case "channelMention":
    case "roleMention":
      return [{ type: token.type, id: (token as MatchToken).match[1] ?? "" }];
    case "everyoneMention":
      return [{ type: "everyoneMention", text: token.raw }];
    case "emoji": {
      const [, animated, name = "", id = ""] = (token as MatchToken).match;
      return [{ type: "emoji", animated: animated === "a", name, id }];
    }
    case "timestamp": {
      const [, seconds = "0", style = "f"] = (token as MatchToken).match;
      return [{ type: "timestamp", seconds: Number(seconds), style }];
    }
    default:
      return [{ type: "text", text: token.raw }];
  }
}

function convertLink(link: Tokens.Link, children: Node[]): Node[] {
  const url = safeUrl(link.href);
  return url === null ? [{ type: "text", text: link.raw }] : [{ type: "link", url, children }];
}

/** The URL if it leads to the web or to mail; null for others, such as `javascript:`. */
export function safeUrl(href: string): string | null {
  try {
    const url = new URL(href);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** marked escapes the five characters of HTML in some tokens; React escapes by itself. */
function decode(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}
