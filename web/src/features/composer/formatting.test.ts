import { describe, expect, it } from "vitest";

import { toggleMark } from "./formatting";

/** The text after toggling, with the selection in brackets, as it is before. */
function toggled(marked: string, mark: string): string {
  const start = marked.indexOf("[");
  const end = marked.indexOf("]") - 1;
  const text = marked.replace(/[[\]]/g, "");
  const change = toggleMark({ text, start, end }, mark);
  const after = text.slice(0, change.from) + change.insert + text.slice(change.to);
  return `${after.slice(0, change.start)}[${after.slice(change.start, change.end)}]${after.slice(change.end)}`;
}

describe("formatting", () => {
  it("puts a mark around the selection, and takes it away again", () => {
    expect(toggled("a [b] c", "**")).toBe("a **[b]** c");
    expect(toggled("a **[b]** c", "**")).toBe("a [b] c");
    expect(toggled("a [**b**] c", "**")).toBe("a [b] c");
    expect(toggled("[]", "~~")).toBe("~~[]~~");
  });

  it("tells italic from bold", () => {
    expect(toggled("**[b]**", "*")).toBe("***[b]***");
    expect(toggled("***[b]***", "*")).toBe("**[b]**");
    expect(toggled("[**b**]", "*")).toBe("*[**b**]*");
  });
});
