import type { WritingShortcut } from "../keybinds/shortcuts";

/** A text with a selection from `start` to `end`. */
export interface Selected {
  text: string;
  start: number;
  end: number;
}

/** A replacement of a part of a text, and the selection after it. */
export interface Replacement {
  from: number;
  to: number;
  insert: string;
  start: number;
  end: number;
}

/** The marks of the shortcuts that format. */
export const MARKS: Readonly<Partial<Record<WritingShortcut, string>>> = {
  bold: "**",
  italic: "*",
  underline: "__",
  strike: "~~",
  code: "`",
  spoiler: "||",
};

/** Put a mark around the selection, or remove it where it is. */
export function toggleMark({ text, start, end }: Selected, mark: string): Replacement {
  const selected = text.slice(start, end);
  const size = mark.length;
  if (isMarked(text.slice(0, start), text.slice(end), mark)) {
    return { from: start - size, to: end + size, insert: selected, start: start - size, end: end - size };
  }
  if (
    selected.length >= 2 * size &&
    selected.startsWith(mark) &&
    selected.endsWith(mark) &&
    !isLonger(selected, mark)
  ) {
    const inner = selected.slice(size, -size);
    return { from: start, to: end, insert: inner, start, end: start + inner.length };
  }
  return { from: start, to: end, insert: mark + selected + mark, start: start + size, end: end + size };
}

/** Whether exactly this mark stands on both sides, so that `*` is not found within `**`. */
function isMarked(before: string, after: string, mark: string): boolean {
  const [sign = ""] = mark;
  const count = (text: string, atEnd: boolean) => {
    const signs = atEnd
      ? text.length - trimEnd(text, sign).length
      : text.length - trimStart(text, sign).length;
    return signs;
  };
  const [left, right] = [count(before, true), count(after, false)];
  return mark === "*" ? left % 2 === 1 && right % 2 === 1 : left >= mark.length && right >= mark.length;
}

/** Whether a selection has a longer mark of the same sign, such as `**` for `*`. */
function isLonger(selected: string, mark: string): boolean {
  return mark === "*" && selected.startsWith("**") && !selected.startsWith("***");
}

function trimEnd(text: string, sign: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === sign) {
    end -= 1;
  }
  return text.slice(0, end);
}

function trimStart(text: string, sign: string): string {
  let start = 0;
  while (text[start] === sign) {
    start += 1;
  }
  return text.slice(start);
}
