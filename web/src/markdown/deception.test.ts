import { describe, expect, it } from "vitest";

import { isDeceptive } from "./deception";
import { visible } from "./invisible";
import type { Node } from "./nodes";
import { parse } from "./parse";
import { safeUrl, shownAddress } from "./urls";

const EVIL = "https://evil.example/login";

function inline(content: string): Node[] {
  const [first] = parse(content);
  return first?.type === "paragraph" ? first.children : [];
}

describe("a link's label", () => {
  it("misleads when it has another address, however that is written", () => {
    for (const label of [
      "https://example.com",
      "http://example.com/a?b=c",
      "HTTPS://EXAMPLE.COM",
      "example.com",
      "www.example.com/path",
      "go to example.com now",
      "(example.com)",
      "https://evil.example@example.com",
      "https://example.com@evil.example/login",
      "https://evil.example.com/login",
      "https://evil.example/other",
      "192.168.0.1",
      "someone@example.com",
      // Letters of other scripts, full-width ones, invisible ones and spaces.
      "https://ехаmple.com",
      "пример.рф",
      "ｈｔｔｐｓ：／／ｅｘａｍｐｌｅ．ｃｏｍ",
      "example\u3002com",
      "example\u2024com",
      "https:\u2215\u2215example.com",
      "https\ua789//example.com",
      "exam\u200bple.com",
      "e\u2060x\u00adample\u200d.com",
      "\u202emoc.elpmaxe//:sptth https://example.com",
      "https : // example.com",
      "https://\u2800example.com",
      "example .com",
      "example. com",
      "steam://run",
      "javascript://example.com",
      "see:https://example.com",
    ]) {
      expect([label, isDeceptive(label, EVIL)]).toEqual([label, true]);
    }
  });

  it("is empty when nothing of it is seen", () => {
    for (const label of [
      "",
      " ",
      "\u200b",
      "\u2800",
      "\u00ad\u2060\ufeff",
      "\u3164",
      "\u202e\u202c",
      "\ufe0f",
    ]) {
      expect([label, isDeceptive(label, EVIL)]).toEqual([label, true]);
    }
  });

  it("may say anything else, and the link's own address", () => {
    for (const label of [
      "here",
      "Read this. And that.",
      "v1.2.3",
      "1.5 GB, e.g. a film",
      "index.html, main.ts",
      "☕",
      "evil.example",
      "www.evil.example",
      "https://evil.example/login",
      "https://evil.example/lo…",
      "evil.example/login",
      "日本語",
      "50%/30%",
    ]) {
      expect([label, isDeceptive(label, EVIL)]).toEqual([label, false]);
    }
    expect(isDeceptive("münchen.example", "https://xn--mnchen-3ya.example/")).toBe(false);
    expect(isDeceptive("me@example.org", "mailto:me@example.org")).toBe(false);
    expect(isDeceptive("https://a.example:8080/x", "https://a.example:8080/x")).toBe(false);
    expect(isDeceptive("https://a.example:8080/x", "https://a.example/x")).toBe(true);
  });
});

describe("links in a message", () => {
  it("show their source, with the address they lead to, where the label misleads or is empty", () => {
    for (const label of ["https://example.com", "**https://exam**ple.com", "\u200b", ""]) {
      const nodes = inline(`[${label}](${EVIL})`);
      const links = nodes.filter((node) => node.type === "link");
      expect([label, links]).toEqual([
        label,
        [{ type: "link", url: EVIL, children: [{ type: "text", text: EVIL }] }],
      ]);
      expect(nodes[0]).toMatchObject({ type: "text", text: expect.stringMatching(/^\[/) as string });
    }
    expect(inline(`[the shop](${EVIL})`)).toEqual([
      { type: "link", url: EVIL, children: [{ type: "text", text: "the shop" }] },
    ]);
  });

  it("lead to the web or to mail only", () => {
    for (const url of [
      "javascript:alert(1)",
      "JaVaScRiPt:alert(1)",
      "java\tscript:alert(1)",
      "data:text/html,x",
      "vbscript:x",
      "file:///etc/passwd",
      "blob:https://a.example/1",
      "//a.example",
      "/settings",
    ]) {
      expect([url, safeUrl(url)]).toEqual([url, null]);
      expect(JSON.stringify(parse(`[a](${url}) [b](<${url}>)`))).not.toContain('"link"');
    }
  });

  it("name a host whose letters look like another's in ASCII", () => {
    const shown = (address: string) => {
      const [node] = inline(address);
      return node?.type === "link" ? node.children : node;
    };
    expect(shown("https://аррӏе.example/x")).toEqual([
      { type: "text", text: "https://xn--80ak6aa92e.example/x" },
    ]);
    expect(shown("https://ex\u0430mple.org")).toEqual([
      { type: "text", text: "https://xn--exmple-4nf.org/" },
    ]);
    expect(shown("https://münchen.example")).toEqual([{ type: "text", text: "https://münchen.example" }]);
    expect(shownAddress("https://пример.рф/", "https://xn--e1afmkfd.xn--p1ai/")).toBe("https://пример.рф/");
    expect(shownAddress("https://日本.example/", "x")).toBe("https://日本.example/");
  });
});

describe("characters that nothing shows", () => {
  it("are named if they turn the text's direction, and left out otherwise", () => {
    expect(visible("invoice\u202egpj.exe")).toBe("invoice[U+202E]gpj.exe");
    expect(visible("a\u2066b\u2069")).toBe("a[U+2066]b[U+2069]");
    expect(visible("pay\u200bpal\u00ad\u2060")).toBe("paypal");
    expect(visible("a\u{e0041}b")).toBe("ab");
  });

  it("stay where emojis and scripts need them, and where there is nothing else", () => {
    for (const text of [
      "👩‍👩‍👧",
      "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
      "می‌خواهم",
      "❤️",
      "\u200b",
      "a\u200eb",
    ]) {
      expect(visible(text)).toBe(text);
    }
  });

  it("are seen in a message's text and code", () => {
    expect(inline("a\u202eb `c\u202ed`")).toEqual([
      { type: "text", text: "a[U+202E]b " },
      { type: "code", text: "c[U+202E]d" },
    ]);
    expect(parse("```\nif (x) {\u202e}\n```")).toMatchObject([{ text: "if (x) {[U+202E]}" }]);
    // Nothing becomes a mention or a link by being left out.
    expect(inline("@\u200beveryone")).toEqual([{ type: "text", text: "@everyone" }]);
  });
});
