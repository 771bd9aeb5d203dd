import { describe, expect, it } from "vitest";

import {
  addAccount,
  chooseAccount,
  mayTakePagesLogin,
  noteUnknownLogout,
  readAccounts,
  removeAccount,
  updateAccount,
} from "./accounts";

function memory(): Storage {
  const entries = new Map<string, string>();
  return {
    getItem: (key: string) => entries.get(key) ?? null,
    setItem: (key: string, value: string) => entries.set(key, value),
    removeItem: (key: string) => entries.delete(key),
  } as unknown as Storage;
}

describe("the accounts of a device", () => {
  it("have the one in use first", () => {
    const storage = memory();
    addAccount({ userId: "1", token: "a" }, storage);
    addAccount({ userId: "2", token: "b" }, storage);
    expect(readAccounts(storage).map((each) => each.userId)).toEqual(["2", "1"]);
    chooseAccount("1", storage);
    expect(readAccounts(storage).map((each) => each.userId)).toEqual(["1", "2"]);
  });

  it("keep what others store when one changes or ends", () => {
    const storage = memory();
    addAccount({ userId: "1", token: "a" }, storage);
    addAccount({ userId: "2", token: "b" }, storage);
    updateAccount("1", { name: "ada", token: "c" }, storage);
    removeAccount({ userId: "2", token: "b" }, storage);
    expect(readAccounts(storage)).toEqual([{ userId: "1", token: "c", name: "ada" }]);
  });

  it("stay when an old login of theirs ends", () => {
    const storage = memory();
    addAccount({ userId: "1", token: "a" }, storage);
    updateAccount("1", { token: "b" }, storage);
    removeAccount({ userId: "1", token: "a" }, storage);
    expect(readAccounts(storage)).toEqual([{ userId: "1", token: "b" }]);
  });

  it("do not come back by the pages after a logout that the server did not hear of", () => {
    const storage = memory();
    expect(mayTakePagesLogin(storage)).toBe(true);
    addAccount({ userId: "1", token: "a" }, storage);
    expect(mayTakePagesLogin(storage)).toBe(false);
    noteUnknownLogout(storage);
    storage.setItem("moothall.accounts", "[]");
    expect(mayTakePagesLogin(storage)).toBe(false);
    addAccount({ userId: "1", token: "b" }, storage);
    storage.setItem("moothall.accounts", "[]");
    expect(mayTakePagesLogin(storage)).toBe(true);
  });

  it("are none where the storage is damaged", () => {
    const storage = memory();
    storage.setItem("moothall.accounts", "{");
    expect(readAccounts(storage)).toEqual([]);
  });
});
