const MAX_LENGTH = 40;

/** A name for a thread that is started from a message: its first line without formatting, cut at a word. */
export function threadName(content: string): string {
  const line = content
    .replaceAll(/<(?:a?:(\w+):|@[!&]?|#)\d+>/g, (_mention, emoji?: string) => emoji ?? "")
    .replaceAll(/[*_~`|>#]+/g, "")
    .split("\n")
    .map((each) => each.trim())
    .find((each) => each !== "");
  if (line === undefined || line.length <= MAX_LENGTH) {
    return line ?? "";
  }
  const cut = line.slice(0, MAX_LENGTH);
  const space = cut.lastIndexOf(" ");
  return `${(space > MAX_LENGTH / 2 ? cut.slice(0, space) : cut).trimEnd()}…`;
}
