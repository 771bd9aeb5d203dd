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
 * A value for the middle of a sentence. Between isolating characters, a name that is written the other way than the
 * sentence does not change the order of what surrounds it. Other values stay as they are.
 */
export function isolated(value: string, sentence: Direction = "ltr"): string {
  const runsAgainst = sentence === "ltr" ? LETTERS_RTL.test(value) : value !== "" && !LETTERS_RTL.test(value);
  return runsAgainst ? `\u2068${value}\u2069` : value;
}
