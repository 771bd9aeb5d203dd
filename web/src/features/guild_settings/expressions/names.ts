/** A name of 2 to 32 letters, digits and underscores from that of a file, for an emoji. */
export function nameOfFile(fileName: string): string {
  const name = fileName
    .replace(/\.[^.]*$/, "")
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9_]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .slice(0, 32);
  return name.length < 2 ? `emoji_${name}`.replace(/_$/, "") : name;
}
