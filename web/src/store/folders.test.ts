import { describe, expect, it } from "vitest";

import {
  arrangeGuilds,
  changeFolder,
  createFolder,
  dropEntry,
  leaveFolder,
  moveEntry,
  toFolders,
  type RailEntry,
} from "./folders";

const folders = [
  { id: null, guild_ids: ["3"], name: null, color: null },
  { id: 7, guild_ids: ["1", "9"], name: "Work", color: 0xff0000 },
];
const entries = arrangeGuilds(["1", "2", "3", "4"], folders);
/** Guilds, and folders in brackets. */
const shape = (list: readonly RailEntry[]) =>
  list
    .map((entry) => (entry.folder === null ? entry.guildIds[0] : `[${entry.guildIds.join(" ")}]`))
    .join(" ");

describe("the list of guilds", () => {
  it("has the folders first, without guilds that are gone, and others at the end", () => {
    expect(shape(entries)).toBe("3 [1] 2 4");
    expect(toFolders(entries)[1]).toEqual({ id: 7, guild_ids: ["1"], name: "Work", color: 0xff0000 });
  });

  it("changes by dropping a guild beside or onto another, or into a folder", () => {
    expect(shape(dropEntry(entries, "guild 4", "guild 3", "before", 8))).toBe("4 3 [1] 2");
    expect(shape(dropEntry(entries, "guild 4", "guild 3", "into", 8))).toBe("[3 4] [1] 2");
    expect(shape(dropEntry(entries, "guild 4", "folder 7", "into", 8))).toBe("3 [1 4] 2");
    expect(shape(dropEntry(entries, "guild 4", "guild 1", "before", 8))).toBe("3 [4 1] 2");
    expect(shape(dropEntry(entries, "guild 1", "guild 4", "after", 8))).toBe("3 2 4 1");
  });

  it("changes by dropping a folder beside an entry", () => {
    expect(shape(dropEntry(entries, "folder 7", "guild 4", "after", 8))).toBe("3 2 4 [1]");
    expect(shape(dropEntry(entries, "folder 7", "folder 7", "after", 8))).toBe("3 [1] 2 4");
  });

  it("changes without dragging as well", () => {
    expect(shape(moveEntry(entries, "guild 2", -1))).toBe("3 2 [1] 4");
    expect(shape(moveEntry(entries, "guild 3", -1))).toBe("3 [1] 2 4");
    const two = dropEntry(entries, "guild 4", "folder 7", "into", 8);
    expect(shape(moveEntry(two, "guild 4", -1))).toBe("3 [4 1] 2");
    expect(shape(leaveFolder(two, "1"))).toBe("3 [4] 1 2");
    expect(shape(createFolder(entries, "2", 8))).toBe("3 [1] [2] 4");
    expect(shape(changeFolder(two, 7, null))).toBe("3 1 4 2");
    expect(changeFolder(two, 7, { name: "Play", color: 1 })[1]?.folder).toEqual({
      id: 7,
      name: "Play",
      color: 1,
    });
  });
});
