/** The hues of the tokens (`--hue-…`): grounds of pictures, and accents. */
export const HUES = [
  "crimson",
  "ember",
  "amber",
  "olive",
  "green",
  "teal",
  "sky",
  "blue",
  "violet",
  "pink",
] as const;
export type Hue = (typeof HUES)[number];

const FNV_OFFSET = 2_166_136_261;
const FNV_PRIME = 16_777_619;

/** The hue of an id or a name: always the same one, and each of them as often as the others. */
export function hueOf(key: string): Hue {
  let hash = FNV_OFFSET;
  for (const unit of key) {
    hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), FNV_PRIME) >>> 0;
  }
  // The low bits of ids made in the same second are alike.
  return HUES[((hash ^ (hash >>> 15)) >>> 0) % HUES.length] ?? "ember";
}

const MAX_INITIALS = 2;

/** What stands for a name where there is no picture: the first letters of its first words, as they are read. */
export function initials(name: string, count: number): string {
  const words = name
    .split(/[^\p{L}\p{N}\p{M}\p{Extended_Pictographic}\u200D\uFE0F]+/u)
    .filter((word) => word !== "");
  const parts = words.length === 0 ? [name.trim() || "?"] : words;
  return parts
    .slice(0, Math.min(count, MAX_INITIALS))
    .map((word) => firstCharacter(word).toUpperCase())
    .join("");
}

function firstCharacter(word: string): string {
  const [first] = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(word);
  return first?.segment ?? "?";
}
