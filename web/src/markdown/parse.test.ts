import { describe, expect, it } from "vitest";

import { parse, safeUrl, type Node } from "./parse";
import { plainText } from "./plain";

/** The first paragraph's children. */
function inline(content: string): Node[] {
  const [first] = parse(content);
  return first?.type === "paragraph" ? first.children : [];
}

describe("the text of messages", () => {
  it("has bold, italic, underlined, struck and hidden parts", () => {
    expect(inline("**a** *b* __c__ ~~d~~ ||e||").map((node) => node.type)).toEqual([
      "strong",
      "text",
      "emphasis",
      "text",
      "underline",
      "text",
      "strike",
      "text",
      "spoiler",
    ]);
  });

  it("mentions users, roles, channels and everyone", () => {
    expect(inline("<@1> <@!2> <@&3> <#4> @everyone").filter((node) => node.type !== "text")).toEqual([
      { type: "userMention", id: "1" },
      { type: "userMention", id: "2" },
      { type: "roleMention", id: "3" },
      { type: "channelMention", id: "4" },
      { type: "everyoneMention", text: "@everyone" },
    ]);
  });

  it("has custom emojis and timestamps", () => {
    expect(inline("<a:wave:5><t:1700000000:R>")).toEqual([
      { type: "emoji", animated: true, name: "wave", id: "5" },
      { type: "timestamp", seconds: 1_700_000_000, style: "R" },
    ]);
  });

  it("shows HTML as text", () => {
    expect(inline("<img src=x onerror=alert(1)>")).toEqual([
      { type: "text", text: "<img src=x onerror=alert(1)>" },
    ]);
    expect(inline("a & b &amp;lt;")[0]).toMatchObject({ type: "text" });
  });

  it("links to the web only", () => {
    expect(inline("[a](javascript:alert(1))")[0]?.type).toBe("text");
    expect(inline("[a](https://example.org)")[0]).toMatchObject({
      type: "link",
      url: "https://example.org/",
    });
    expect(inline("https://example.org/x")[0]).toMatchObject({ type: "link", url: "https://example.org/x" });
    expect(safeUrl("data:text/html,x")).toBeNull();
    expect(safeUrl("JaVaScRiPt:alert(1)")).toBeNull();
  });

  it("leaves marks within code alone", () => {
    expect(inline("`**a** <@1>`")).toEqual([{ type: "code", text: "**a** <@1>" }]);
    expect(parse("```ts\n||x||\n```")).toEqual([{ type: "codeBlock", language: "ts", text: "||x||" }]);
  });

  it("has blocks of code that begin and end within a line", () => {
    const block = (text: string, language = "") => ({ type: "codeBlock", language, text });
    const paragraph = (text: string) => ({ type: "paragraph", children: [{ type: "text", text }] });
    expect(parse("look: ```py\nx = 1\n\ny = 2\n``` done")).toEqual([
      paragraph("look: "),
      block("x = 1\n\ny = 2", "py"),
      paragraph(" done"),
    ]);
    expect(parse("a\n```\n  b\n```\nc")).toEqual([paragraph("a"), block("  b"), paragraph("c")]);
    expect(parse("```one line```")).toEqual([block("one line")]);
    expect(parse("```js\n```")).toEqual([block("js")]);
    expect(parse("```c++\nint\n```")).toEqual([block("int", "c++")]);
    expect(parse("```not a language\nx\n```")).toEqual([block("not a language\nx")]);
    expect(parse("```a``` and ```b```")).toEqual([block("a"), paragraph(" and "), block("b")]);
    expect(parse("> ```\n> quoted\n> ```")).toEqual([{ type: "quote", children: [block("quoted")] }]);
  });

  it("shows a fence that nothing closes, and one without code, as text", () => {
    expect(plainText("a ```js\nb", 100)).toBe("a ```js b");
    expect(plainText("~~~\nb\n~~~", 100)).toBe("~~~ b ~~~");
    expect(parse("``````").some(({ type }) => type === "codeBlock")).toBe(false);
  });

  it("has headings of three levels, subtext, quotes and lists", () => {
    expect(parse("# a\n-# b\n> c\n- d").map((node) => node.type)).toEqual([
      "heading",
      "subtext",
      "quote",
      "list",
    ]);
    expect(parse("#### a")[0]?.type).toBe("paragraph");
  });

  it("parses hostile nesting to a bounded depth, within the time limit of a test", () => {
    const bombs = [
      "**__".repeat(500),
      "> ".repeat(1000),
      "- ".repeat(1000),
      "||**".repeat(900) + "**||".repeat(100),
      "[".repeat(2000),
      "<@".repeat(2000),
      "*a_".repeat(1300),
    ];
    for (const bomb of bombs) {
      expect(depth(parse(bomb))).toBeLessThan(40);
    }
  });
});

function depth(nodes: Node[]): number {
  return Math.max(
    0,
    ...nodes.map((node) => {
      if ("children" in node) {
        return 1 + depth(node.children);
      }
      return node.type === "list" ? 1 + Math.max(0, ...node.items.map(depth)) : 1;
    }),
  );
}
