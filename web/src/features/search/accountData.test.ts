// @vitest-environment jsdom
import { expect, it } from "vitest";

import { addSearch, readSearches } from "./history";
import { NO_FILTERS } from "./filters";
import { isTrusted, trust } from "../links/trusted";
import { accountKey, addAccount, removeAccount } from "../session/accounts";

/** A storage in memory. */
function memory(): Storage {
  const values = new Map<string, string>();
  return {
    get length() {
      return values.size;
    },
    key: (index) => [...values.keys()][index] ?? null,
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
    clear: () => values.clear(),
  };
}

it("what an account keeps on a device is its own, and goes when its login ends", () => {
  const storage = memory();
  const [ada, ben] = [
    { userId: "1", token: "a" },
    { userId: "12", token: "b" },
  ];
  addAccount(ada, storage);
  addAccount(ben, storage);
  addSearch("1", "g", { ...NO_FILTERS, content: "secret" }, storage);
  addSearch("12", "g", { ...NO_FILTERS, content: "tea" }, storage);
  expect(readSearches("12", "g", storage).map(({ content }) => content)).toEqual(["tea"]);
  storage.setItem(accountKey("1", "other"), "x");

  // The end of an old login takes nothing from the new one.
  removeAccount({ userId: "1", token: "old" }, storage);
  expect(readSearches("1", "g", storage)).toHaveLength(1);
  removeAccount(ada, storage);
  expect(readSearches("1", "g", storage)).toEqual([]);
  expect(readSearches("12", "g", storage)).toHaveLength(1);
  expect(storage.getItem(accountKey("1", "other"))).toBeNull();
});

it("a host is confirmed for one account, with its port", () => {
  const storage = memory();
  const url = new URL("https://a.example:8443/x");
  expect(isTrusted("1", url, storage)).toBe(false);
  trust("1", url, storage);
  expect(isTrusted("1", new URL("https://a.example:8443/y"), storage)).toBe(true);
  expect(isTrusted("1", new URL("https://a.example/y"), storage)).toBe(false);
  expect(isTrusted("1", new URL("https://b.a.example:8443/"), storage)).toBe(false);
  expect(isTrusted("2", url, storage)).toBe(false);
  expect(isTrusted("2", new URL("mailto:a@a.example"), storage)).toBe(true);
  storage.setItem(accountKey("3", "trusted-hosts"), "broken");
  expect(isTrusted("3", url, storage)).toBe(false);
});
