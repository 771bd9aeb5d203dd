import { describe, expect, it } from "vitest";

import { isAllowed } from "./combinations";
import { press } from "./presses";
import {
  actionOf,
  conflictsOf,
  keybindsOf,
  readChanges,
  SHORTCUTS,
  withKeys,
  writingShortcutOf,
} from "./shortcuts";

const INITIAL = keybindsOf({});

describe("shortcuts", () => {
  it("are told from other keys", () => {
    const action = (...args: Parameters<typeof press>) => actionOf(press(...args), INITIAL);
    expect(action("k", "ctrlKey")).toBe("switcher");
    expect(action("K", "metaKey")).toBe("switcher");
    expect(action("/", "ctrlKey", "shiftKey")).toBe("shortcuts");
    expect(action("ArrowDown", "altKey")).toBe("nextChannel");
    expect(action("ArrowDown", "altKey", "shiftKey")).toBe("nextUnread");
    expect(action("ArrowDown", "altKey", "ctrlKey")).toBe("nextGuild");
    expect(action("Escape")).toBe("markRead");
    expect([action("k"), action("k", "ctrlKey", "shiftKey"), action("ArrowDown")]).toEqual([
      null,
      null,
      null,
    ]);
  });

  it("work where they belong", () => {
    expect(writingShortcutOf(press("b", "ctrlKey"), INITIAL)).toBe("bold");
    expect(writingShortcutOf(press("X", "ctrlKey", "shiftKey"), INITIAL)).toBe("strike");
    expect(writingShortcutOf(press("ArrowUp"), INITIAL)).toBe("editLast");
    expect(writingShortcutOf(press("ArrowUp", "altKey"), INITIAL)).toBeNull();
    expect([
      writingShortcutOf(press("k", "ctrlKey"), INITIAL),
      actionOf(press("b", "ctrlKey"), INITIAL),
    ]).toEqual([null, null]);
  });

  it("have at first keys of their own, which they may all be given again", () => {
    expect(SHORTCUTS.flatMap(({ id }) => conflictsOf(INITIAL, id))).toEqual([]);
    expect(SHORTCUTS.filter(({ keys }) => !isAllowed(keys)).map(({ id }) => id)).toEqual(["editLast"]);
  });

  it("are given other keys and switched off", () => {
    const changes = withKeys(withKeys({}, "switcher", "Mod+J"), "bold", null);
    const keybinds = keybindsOf(changes);
    expect(actionOf(press("j", "ctrlKey"), keybinds)).toBe("switcher");
    expect(actionOf(press("k", "ctrlKey"), keybinds)).toBeNull();
    expect(writingShortcutOf(press("b", "ctrlKey"), keybinds)).toBeNull();
    expect(withKeys(changes, "switcher", "Mod+K")).toEqual({ bold: null });
  });

  it("conflict with those that have the same keys, unless they are off", () => {
    const ids = (changes: Parameters<typeof keybindsOf>[0]) =>
      conflictsOf(keybindsOf(changes), "switcher").map(({ id }) => id);
    expect(ids({ search: "Mod+K" })).toEqual(["search"]);
    expect(ids({ switcher: "Mod+B" })).toEqual(["bold"]);
    expect(ids({ switcher: null, bold: null })).toEqual([]);
  });

  it("are read from what is stored, whatever that is", () => {
    const stored = { switcher: "Mod+J", search: null, bold: 7, code: "C", italic: "Mod+I", unknown: "Mod+P" };
    expect(readChanges(stored)).toEqual({ switcher: "Mod+J", search: null });
    expect([readChanges(null), readChanges("x"), readChanges([])]).toEqual([{}, {}, {}]);
  });
});
