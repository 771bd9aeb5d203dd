import { expect, test } from "vitest";

import { readDraft, writeDraft } from "./draft";

class MemoryStorage implements Pick<Storage, "getItem" | "setItem" | "removeItem"> {
  private readonly values = new Map<string, string>();
  getItem(key: string) {
    return this.values.get(key) ?? null;
  }
  setItem(key: string, value: string) {
    this.values.set(key, value);
  }
  removeItem(key: string) {
    this.values.delete(key);
  }
}

test("what was typed is there again until it is saved, for each step by itself", () => {
  const storage = new MemoryStorage() as unknown as Storage;
  writeDraft("mail", { host: "mail.example" }, storage);
  expect(readDraft("mail", storage)).toEqual({ host: "mail.example" });
  expect(readDraft("instance", storage)).toBeNull();
  writeDraft("mail", null, storage);
  expect(readDraft("mail", storage)).toBeNull();
});

test("what cannot be read is no draft", () => {
  const storage = new MemoryStorage() as unknown as Storage;
  storage.setItem("moothall.setup.mail", "{");
  expect(readDraft("mail", storage)).toBeNull();
});
