/**
 * Whether a text is at most some number of emojis and spaces. One emoji is matched after the other: a pattern that
 * repeats them all tries both ways to read each with a skin tone, as one or as two, before it fails.
 */
export function hasOnlyEmojis(text: string, max: number): boolean {
  // The pattern of all emojis is compiled slowly: texts with letters, of which only ℹ is an emoji, need none.
  if (/[^\P{L}\u2139]/u.test(text)) {
    return false;
  }
  const emoji = /\p{RGI_Emoji}|\s+/vy;
  for (let count = 0; emoji.lastIndex < text.length; count += 1) {
    if (count > 2 * max || emoji.exec(text) === null) {
      return false;
    }
  }
  return true;
}
