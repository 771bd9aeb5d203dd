import { describe, expect, it } from "vitest";

import { ariaKeys, combinationOf, isAllowed, keyNames } from "./combinations";
import { press } from "./presses";

const NAMING = { apple: false, ctrl: "Strg", shift: "Umschalt", space: "Leertaste" };

describe("combinations of keys", () => {
  it("have their modifiers in one order", () => {
    expect(combinationOf(press("k", "ctrlKey"))).toBe("Mod+K");
    expect(combinationOf(press("K", "metaKey", "shiftKey", "altKey"))).toBe("Mod+Alt+Shift+K");
    expect(combinationOf(press("ArrowUp"))).toBe("ArrowUp");
    expect(combinationOf(press("+", "ctrlKey"))).toBe("Mod+Plus");
    expect(combinationOf(press(" ", "ctrlKey", "shiftKey"))).toBe("Mod+Shift+Space");
  });

  it("leave out the Shift that a sign needs on some keyboards", () => {
    expect(combinationOf(press("/", "ctrlKey", "shiftKey"))).toBe("Mod+/");
    expect(combinationOf(press("X", "ctrlKey", "shiftKey"))).toBe("Mod+Shift+X");
  });

  it("are no modifiers alone, and nothing that is typed with AltGr", () => {
    expect(combinationOf(press("Control", "ctrlKey"))).toBeNull();
    expect(combinationOf(press("Dead", "altKey"))).toBeNull();
    const typed = { ...press("@", "ctrlKey", "altKey"), getModifierState: () => true };
    expect(combinationOf(typed)).toBeNull();
  });

  it("leave to writing, moving and the browser what they need", () => {
    expect(["Mod+J", "Alt+Shift+ArrowUp", "F8", "Escape", "Mod+Alt+1"].filter(isAllowed)).toHaveLength(5);
    expect(
      ["J", "Shift+J", "/", "Enter", "Tab", "ArrowUp", "Space", "Mod+C", "Mod+W", "Alt+ArrowLeft"].filter(
        isAllowed,
      ),
    ).toEqual([]);
  });

  it("are named for people and for screen readers", () => {
    expect(keyNames("Mod+Shift+ArrowUp", NAMING)).toEqual(["Strg", "Umschalt", "↑"]);
    expect(keyNames("Mod+Alt+Plus", { ...NAMING, apple: true })).toEqual(["⌘", "⌥", "+"]);
    expect(ariaKeys("Mod+Alt+K", false)).toBe("Control+Alt+K");
    expect(ariaKeys("Mod+K", true)).toBe("Meta+K");
  });
});
