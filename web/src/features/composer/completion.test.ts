import { describe, expect, it } from "vitest";

import { bestMatches, expandShortNames, findTrigger, matchRank } from "../completion/completion";

/** What can be completed at the end of a text. */
function at(text: string) {
  const trigger = findTrigger(text, text.length);
  return trigger && `${trigger.kind} ${trigger.query} ${trigger.start}`;
}

describe("completion", () => {
  it("begins with a sign after a space", () => {
    expect(at("hi @ad")).toBe("mention ad 3");
    expect(at("@")).toBe("mention  0");
    expect(at("see #gen")).toBe("channel gen 4");
    expect(at("well :ta")).toBe("emoji ta 5");
    expect(at("/set co")).toBe("command set co 0");
    expect([at("mail@host"), at("12:30"), at("a:b"), at("x /roll"), at(":t"), at("@ada ")]).toEqual([
      null,
      null,
      null,
      null,
      null,
      null,
    ]);
  });

  it("prefers names that begin with what was typed, whatever their case and accents", () => {
    expect([
      matchRank("Ädä", "ad"),
      matchRank("The Ada", "ada"),
      matchRank("Canada", "ada"),
      matchRank("x", "y"),
    ]).toEqual([0, 1, 2, null]);
    expect(bestMatches(["canada", "the ada", "adam", "ada", "eve"], "ada", (name) => [name])).toEqual([
      "ada",
      "adam",
      "the ada",
      "canada",
    ]);
  });

  it("turns short names into emojis, but not in code or in markup", () => {
    const standard = [{ emoji: "🎉", names: ["tada", "party_popper"] }];
    const custom = [{ id: "7", name: "moot", animated: true }] as never;
    const expand = (text: string) => expandShortNames(text, standard, custom);
    expect(expand("a :tada: b :party_popper::moot:")).toBe("a 🎉 b 🎉<a:moot:7>");
    expect(expand("`:tada:` <:tada:9> :none: 10:30:20")).toBe("`:tada:` <:tada:9> :none: 10:30:20");
  });
});
