export type Direction = "ltr" | "rtl";

const RIGHT_TO_LEFT: ReadonlySet<string> = new Set([
  "Adlm",
  "Arab",
  "Aran",
  "Hebr",
  "Mand",
  "Nkoo",
  "Rohg",
  "Samr",
  "Syrc",
  "Thaa",
]);
/** Letters of these scripts. */
const LETTERS_RTL = /[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFF]|[\uD802\uD803\uD83A\uD83B][\uDC00-\uDFFF]/;

/** The direction that a language is written in, by its script. */
export function directionOf(locale: string): Direction {
  const { script } = new Intl.Locale(locale).maximize();
  return script !== undefined && RIGHT_TO_LEFT.has(script) ? "rtl" : "ltr";
}

/**
 * A value for the middle of a sentence that is written from left to right. Between isolating characters, a name in
 * Hebrew or Arabic does not change the order of what surrounds it. Other values stay as they are.
 */
export function isolated(value: string): string {
  return LETTERS_RTL.test(value) ? `\u2068${value}\u2069` : value;
}
