import { expect, test } from "vitest";

import { spoilerLinks } from "./spoilers";

const links = (content: string) => [...spoilerLinks(content)];

test("links in spoilers are told from the others", () => {
  expect(links("https://a.example/ ||https://b.example/x|| ||**https://c.example/**||")).toEqual([
    "https://b.example/x",
    "https://c.example/",
  ]);
  expect(links("- one\n- ||https://d.example/||")).toEqual(["https://d.example/"]);
  expect(links("https://a.example/ || no spoiler")).toEqual([]);
});

test("links in code are none", () => {
  expect(links("`||https://a.example/||`")).toEqual([]);
});
