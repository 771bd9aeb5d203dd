/** The URL if it leads to the web or to mail; null for others, such as `javascript:`. */
export function safeUrl(href: string): string | null {
  try {
    const url = new URL(href);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** Scripts whose letters are not mistaken for Latin ones. */
const DISTINCT =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}\p{N}-]+$/u;
const LATIN = /^[a-z0-9\u00df-\u00f6\u00f8-\u0130\u0132-\u017e-]+$/u;
const CYRILLIC = /^[\p{Script=Cyrillic}\p{N}-]+$/u;
const GREEK = /^[\p{Script=Greek}\p{N}-]+$/u;

/**
 * An address as it is shown: as it was written where its host cannot be mistaken for another, and else in ASCII
 * (`xn--...`), as browsers show it. Letters of one label are to be of one script; Cyrillic and Greek ones, which look
 * like Latin ones, are shown under a domain of the same script alone.
 */
export function shownAddress(address: string, url: string): string {
  const host = /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#:]*)/i.exec(address)?.[1] ?? "";
  return /^[\x21-\x7e]*$/.test(host) || isDistinct(host) ? address : url;
}

function isDistinct(host: string): boolean {
  const labels = host.normalize("NFC").toLowerCase().split(".");
  const last = labels.at(-1) ?? "";
  return labels.every(
    (label) =>
      LATIN.test(label) ||
      DISTINCT.test(label) ||
      (CYRILLIC.test(label) && CYRILLIC.test(last)) ||
      (GREEK.test(label) && GREEK.test(last)),
  );
}
