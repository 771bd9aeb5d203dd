// @vitest-environment jsdom
import { expect, it } from "vitest";

import { addRecent, quickEmojis, readRecents, readSkinTone, writeSkinTone } from "./recents";

const TICK = { id: "12", name: "tick" };

it("The emoji that was used last comes first, and none twice", () => {
  localStorage.clear();
  addRecent("1", { id: null, name: "👍" });
  addRecent("1", TICK);
  addRecent("1", { id: null, name: "👍" });
  expect(readRecents("1")).toEqual([{ id: null, name: "👍" }, TICK]);
  expect(readRecents("2")).toEqual([]);
});

it("At most 18 are remembered", () => {
  localStorage.clear();
  for (let number = 0; number < 30; number++) {
    addRecent("1", { id: String(number), name: "each" });
  }
  expect(readRecents("1")).toHaveLength(18);
  expect(readRecents("1")[0]?.id).toBe("29");
});

it("What is stored damaged is left out", () => {
  localStorage.setItem(
    "moothall.account.1.emojis",
    '[{"id":"../x","name":"a"},5,null,{"id":null,"name":"👀"}]',
  );
  expect(readRecents("1")).toEqual([{ id: null, name: "👀" }]);
  localStorage.setItem("moothall.account.1.emojis", "{");
  expect(readRecents("1")).toEqual([]);
});

it("Common emojis fill up those that were used", () => {
  expect(quickEmojis([TICK, { id: null, name: "👍" }], 4).map(({ name }) => name)).toEqual([
    "tick",
    "👍",
    "❤️",
    "😂",
  ]);
});

it("The skin tone is one of those that exist", () => {
  localStorage.clear();
  expect(readSkinTone("1")).toBe("none");
  writeSkinTone("1", "medium");
  expect(readSkinTone("1")).toBe("medium");
  localStorage.setItem("moothall.account.1.skinTone", "purple");
  expect(readSkinTone("1")).toBe("none");
});
