import { describe, expect, it } from "vitest";

import { parse, type Node } from "./parse";
import { plainText } from "./plain";
import { safeUrl } from "./urls";

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

  it("nests formatting, and leaves marks alone that nothing closes", () => {
    const text = (value: string) => ({ type: "text", text: value });
    expect(inline("***a***")).toEqual([
      { type: "emphasis", children: [{ type: "strong", children: [text("a")] }] },
    ]);
    expect(inline("**a *b***")).toEqual([
      { type: "strong", children: [text("a "), { type: "emphasis", children: [text("b")] }] },
    ]);
    expect(inline("*a **b***")).toEqual([
      { type: "emphasis", children: [text("a "), { type: "strong", children: [text("b")] }] },
    ]);
    expect(inline("**a __b** c__")).toEqual([{ type: "strong", children: [text("a __b")] }, text(" c__")]);
    expect(inline("2 * 3 * 4, snake_case_name, a ~ b, x || y")).toEqual([
      text("2 * 3 * 4, snake_case_name, a ~ b, x || y"),
    ]);
    expect(inline("||a||||b||").map(({ type }) => type)).toEqual(["spoiler", "spoiler"]);
    expect(inline("\\*a\\* \\\\")).toEqual([text("*a* \\")]);
    expect(inline("``a ` b`` `c")).toEqual([{ type: "code", text: "a ` b" }, text(" `c")]);
  });

  it("links addresses without the punctuation around them", () => {
    const urls = (content: string) =>
      inline(content).flatMap((node) => (node.type === "link" ? [node.url] : []));
    expect(urls("(see https://a.example/b_(c)), https://d.example/?e=f. <https://g.example>")).toEqual([
      "https://a.example/b_(c)",
      "https://d.example/?e=f",
      "https://g.example/",
    ]);
    expect(urls('[a](https://a.example/(b) "title") [c](<https://c.example>)')).toEqual([
      "https://a.example/(b)",
      "https://c.example/",
    ]);
    expect(inline("**https://a.example/x_y_z**")).toEqual([
      {
        type: "strong",
        children: [
          {
            type: "link",
            url: "https://a.example/x_y_z",
            children: [{ type: "text", text: "https://a.example/x_y_z" }],
          },
        ],
      },
    ]);
    expect(inline("[**a** [b](https://a.example)")[3]).toMatchObject({ type: "link" });
  });

  it("has lists in lists, items of several lines, and quotes to the end", () => {
    const item = (value: string) => ({ type: "text", text: value });
    expect(parse("- a\n  more\n  - b\n- c\nend")).toEqual([
      {
        type: "list",
        ordered: false,
        start: 1,
        items: [
          [
            item("a"),
            { type: "break" },
            item("more"),
            { type: "list", ordered: false, start: 1, items: [[item("b")]] },
          ],
          [item("c")],
        ],
      },
      { type: "paragraph", children: [item("end")] },
    ]);
    expect(parse("3. a\n4. b")).toMatchObject([
      { ordered: true, start: 3, items: [[item("a")], [item("b")]] },
    ]);
    expect(parse("a\n>>> b\n\nc").map(({ type }) => type)).toEqual(["paragraph", "quote"]);
    expect(parse("> a\nb").map(({ type }) => type)).toEqual(["quote", "paragraph"]);
  });
});
