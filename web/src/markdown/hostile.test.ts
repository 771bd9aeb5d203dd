import { describe, expect, it } from "vitest";

import { hasOnlyEmojis } from "./emojis";
import type { Meter, Node } from "./nodes";
import { parse } from "./parse";
import { plainText } from "./plain";
import { spoilerLinks } from "./spoilers";

/** The longest text of a message, and of an embed with all its fields. */
const MESSAGE = 4_000;
const EMBED = 6_000;
/** No text may cost more steps for each of its characters. */
const MAX_STEPS = 40;
const MAX_DEPTH = 22;

/** Pieces that begin, end and interrupt everything that texts can have. */
const PIECES = [
  ...Array.from('*_~|`[]()<>#-:@/\\\n "\u200b\u202e'),
  ...Array.from("ab"),
  "**",
  "__",
  "~~",
  "||",
  "```",
  "``",
  "](",
  "](<",
  "](http://a.example",
  ')"',
  "> ",
  ">>> ",
  "- ",
  "  - ",
  "1. ",
  "# ",
  "-# ",
  "http://",
  "https://a.example/",
  "https://a.example/)))",
  "<https://",
  "<@1>",
  "<@",
  "<t:",
  "<a:b:",
  "@everyone",
  "👍🏽",
  "🏴\u{e0067}",
];
const REPEATED = [
  ...PIECES,
  ...[
    "> > ",
    "*a_",
    "*a **b ",
    "**__",
    "[a](",
    "[a](b ",
    '[a](b "',
    "[a](<",
    "[[](",
    "](a](",
    "](a)",
    "[](a",
  ],
  ...["||**", "```a", "``` ", "`a``b", "http://[", "https://a.example||", "http:// ", "a\n", "- a\n  - b\n"],
  ...["<http://a", "\\", "\\*", "_a", "a_", "~~a", "|||", "*\n", "> \n", ">\n", "1. 1. ", "#", "###"],
];

/** Numbers that are the same in each run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function depth(nodes: readonly Node[]): number {
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

function stepsOf(content: string): number {
  const meter: Meter = { steps: 0 };
  expect(depth(parse(content, meter))).toBeLessThan(MAX_DEPTH);
  plainText(content, 100);
  spoilerLinks(content);
  return meter.steps;
}

function repeated(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
}

describe("a hostile text", { timeout: 120_000 }, () => {
  it("costs steps in proportion to its length, however often it repeats what begins and never ends", () => {
    for (const piece of REPEATED) {
      for (const content of [
        repeated(piece, EMBED),
        `${repeated(piece, EMBED / 2)}${repeated("*", EMBED / 2)}`,
        `${repeated(piece, EMBED / 2)})`,
        `**[${repeated(piece, EMBED)}](https://a.example)**`,
      ]) {
        expect({ piece, isBounded: stepsOf(content) <= MAX_STEPS * content.length }).toEqual({
          piece,
          isBounded: true,
        });
      }
    }
  });

  it("costs steps in proportion to its length, whatever is put together", () => {
    const random = seeded(20_260_731);
    for (let round = 0; round < 400; round += 1) {
      let content = "";
      const choice = Array.from({ length: 1 + random(6) }, () => PIECES[random(PIECES.length)] ?? "");
      const length = random(MESSAGE);
      while (content.length < length) {
        content += choice[random(choice.length)] ?? "";
        content += random(40) === 0 ? (PIECES[random(PIECES.length)] ?? "") : "";
      }
      const steps = stepsOf(content);
      expect(steps, JSON.stringify(content.slice(0, 200))).toBeLessThanOrEqual(
        MAX_STEPS * (content.length + 1),
      );
    }
  });

  it("costs four times as much when it is four times as long", () => {
    for (const piece of REPEATED) {
      const ratio = stepsOf(repeated(piece, 4 * MESSAGE)) / Math.max(1, stepsOf(repeated(piece, MESSAGE)));
      expect({ piece, isProportional: ratio < 5 }).toEqual({ piece, isProportional: true });
    }
  });

  it("keeps all of its words", () => {
    const random = seeded(7);
    for (let round = 0; round < 200; round += 1) {
      const words = Array.from(
        { length: 60 },
        (_, index) => `${PIECES[random(PIECES.length)] ?? ""}w${index}x`,
      );
      const content = words.join("").replaceAll("||", "");
      const shown = JSON.stringify(parse(content));
      // What stands in a link's title is not shown.
      const missing = words.filter((_, index) => !shown.includes(`w${index}x`));
      expect({ content, missing: content.includes('"') ? [] : missing }).toEqual({ content, missing: [] });
    }
  });

  it("of emojis with skin tones is told in one pass", () => {
    expect(hasOnlyEmojis("👍🏽 👩‍👩‍👧 🇩🇪 1️⃣", 27)).toBe(true);
    // A pattern that repeats both ways to read each would try 2 ** 27 ways before it fails.
    expect(hasOnlyEmojis(`${"👍🏽".repeat(27)}!`, 27)).toBe(false);
    expect(hasOnlyEmojis("👍🏽".repeat(1_000), 27)).toBe(false);
    expect(hasOnlyEmojis("a👍🏽", 27)).toBe(false);
  });
});
