import { expect, test } from "vitest";

import { noteChannel, readRecentChannels } from "./recents";

function memory(): Storage {
  const values = new Map<string, string>();
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => values.set(key, value),
  } as unknown as Storage;
}

test("the channel that was opened last stands first, each once, and not more than twelve", () => {
  const storage = memory();
  for (const id of ["1", "2", "1", "1"]) {
    noteChannel("9", id, storage);
  }
  expect(readRecentChannels("9", storage)).toEqual(["1", "2"]);
  for (let id = 10; id < 40; id += 1) {
    noteChannel("9", String(id), storage);
  }
  expect(readRecentChannels("9", storage)).toHaveLength(12);
  expect(readRecentChannels("9", storage)[0]).toBe("39");
});

test("each account has its own, and what is damaged counts as none", () => {
  const storage = memory();
  noteChannel("9", "1", storage);
  expect(readRecentChannels("8", storage)).toEqual([]);
  const broken = { getItem: () => "{" } as unknown as Storage;
  expect(readRecentChannels("9", broken)).toEqual([]);
});
