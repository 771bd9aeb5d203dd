import { describe, expect, it } from "vitest";

import { isArrivalOver, readLink } from "./arrival";

describe("links", () => {
  it("lead to invites and templates by their code", () => {
    expect(readLink("https://moot.example/invite/abc-D_1?x=1")).toEqual({ kind: "invite", code: "abc-D_1" });
    expect(readLink(" abc ")).toEqual({ kind: "invite", code: "abc" });
    expect(readLink("https://moot.example/template/xyz/")).toEqual({ kind: "template", code: "xyz" });
    expect(readLink("/app/template/xyz")).toEqual({ kind: "template", code: "xyz" });
  });

  it("are none without a code", () => {
    expect(readLink("")).toBeNull();
    expect(readLink("javascript:alert(1)")).toBeNull();
  });
});

it("an arrival is over once nothing is left to meet, and not while that is unknown", () => {
  const met = { isPending: false, questions: "none", welcome: "none" } as const;
  expect(isArrivalOver(met)).toBe(true);
  expect(isArrivalOver({ ...met, questions: "unknown" })).toBe(false);
  expect(isArrivalOver({ ...met, questions: "some" })).toBe(false);
  expect(isArrivalOver({ ...met, welcome: "some" })).toBe(false);
  expect(isArrivalOver({ ...met, isPending: true })).toBe(false);
});
