import { describe, expect, it } from "vitest";

import { dismiss, dismissed } from "./dismissed";

function storage(): Storage {
  const items = new Map<string, string>();
  return {
    getItem: (key: string) => items.get(key) ?? null,
    setItem: (key: string, value: string) => void items.set(key, value),
  } as unknown as Storage;
}

describe("dismissed announcements", () => {
  it("are remembered once each", () => {
    const browser = storage();
    dismiss("1", browser);
    expect(dismiss("1", browser)).toEqual(["1"]);
    expect(dismissed(browser)).toEqual(["1"]);
  });

  it("are bounded, the oldest forgotten first", () => {
    const browser = storage();
    for (let id = 1; id <= 60; id++) {
      dismiss(String(id), browser);
    }
    expect(dismissed(browser)).toHaveLength(50);
    expect(dismissed(browser).at(-1)).toBe("60");
  });

  it("are none where the storage holds something else", () => {
    const browser = storage();
    browser.setItem("announcements.dismissed", "{");
    expect(dismissed(browser)).toEqual([]);
  });
});
