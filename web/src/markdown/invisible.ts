/** Characters that turn the direction of the text after them: they can make `gpj.exe` look like `exe.jpg`. */
const DIRECTION = /[\u202a-\u202e\u2066-\u2069]/g;
/**
 * Characters that nothing shows, but those that emojis and scripts need (joiners, variation selectors, marks of
 * direction). Tags stay after the black flag, where they make the flags of regions.
 */
const INVISIBLE =
  /[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]|(?<!\u{1f3f4}[\u{e0020}-\u{e007f}]{0,8})[\u{e0000}-\u{e007f}]/gu;
const ANY =
  /[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e007f}]/u;

/**
 * A text as readers are to see it: characters that turn its direction are named in it, invisible ones are gone. A text
 * of nothing else stays blank.
 */
export function visible(text: string): string {
  if (!ANY.test(text)) {
    return text;
  }
  const shown = text.replaceAll(INVISIBLE, "").replaceAll(DIRECTION, nameOf);
  return shown === "" ? text : shown;
}

function nameOf(char: string): string {
  return `[U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`;
}

/** A text without any character that nothing shows, to compare it by what readers see. */
export function withoutInvisible(text: string): string {
  return text.replaceAll(
    /[\p{Cf}\p{Cc}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u2800\u3164\uffa0\ufe00-\ufe0f]/gu,
    (char) => (/\s/.test(char) ? " " : ""),
  );
}
