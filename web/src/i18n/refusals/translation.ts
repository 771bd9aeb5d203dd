import { isolated } from "../direction";
import type { Locale } from "../locales";

/** Texts by the English ones of the API, in which `{0}`, `{1}` stand for any values. */
export type Catalogue = Readonly<Record<string, string>>;

/** The text in another language; a text that has none stays as it is. */
export type TranslateRefusal = (text: string) => string;

interface Pattern {
  expression: RegExp;
  /** The number of the placeholder of each group. */
  numbers: readonly string[];
  /** How much of the English text is no placeholder. */
  literal: number;
  text: string;
}

const PLACEHOLDER = /\{(\d+)\}/g;
const SENTENCE_END = /(?<=[.!?]) (?=[A-Z])/;

/** English needs none: it is what the API says. Loaded with the first refusal. */
const CATALOGUES: Record<Exclude<Locale, "en">, () => Promise<{ default: Catalogue }>> = {
  de: () => import("./refusals.de.json"),
  fr: () => import("./refusals.fr.json"),
  es: () => import("./refusals.es.json"),
  pt: () => import("./refusals.pt.json"),
  pl: () => import("./refusals.pl.json"),
  ja: () => import("./refusals.ja.json"),
  ar: () => import("./refusals.ar.json"),
};

const loaded = new Map<Locale, TranslateRefusal>();

/** Load the texts of a language. */
export async function loadRefusals(locale: Locale): Promise<TranslateRefusal> {
  let translate = loaded.get(locale);
  if (translate === undefined) {
    translate = refusalTranslator(locale === "en" ? {} : (await CATALOGUES[locale]()).default);
    loaded.set(locale, translate);
  }
  return translate;
}

/**
 * Translates by a catalogue. A text that is itself a key comes first, then keys with placeholders, of which the one
 * with the most other characters wins. A text of several sentences that are all in the catalogue is the sum of them.
 */
export function refusalTranslator(catalogue: Catalogue): TranslateRefusal {
  const texts = new Map(Object.entries(catalogue));
  const patterns = [...texts]
    .filter(([english]) => english.search(PLACEHOLDER) >= 0)
    .map(([english, text]) => patternOf(english, text))
    .sort((one, other) => other.literal - one.literal);
  const find = (english: string) => texts.get(english) ?? fillIn(patterns, english);
  return (english) => {
    const text = find(english);
    if (text !== undefined) {
      return text;
    }
    const sentences = english.split(SENTENCE_END).map(find);
    return sentences.includes(undefined) ? english : sentences.join(" ");
  };
}

function patternOf(english: string, text: string): Pattern {
  const fragments = english.split(/\{\d+\}/);
  const expression = fragments.map((each) => each.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("(.+?)");
  return {
    expression: new RegExp(`^${expression}$`, "s"),
    numbers: [...english.matchAll(PLACEHOLDER)].map(([, number = ""]) => number),
    literal: fragments.join("").length,
    text,
  };
}

function fillIn(patterns: readonly Pattern[], english: string): string | undefined {
  for (const { expression, numbers, text } of patterns) {
    const match = expression.exec(english);
    if (match !== null) {
      const values = new Map(numbers.map((number, index) => [number, match[index + 1] ?? ""]));
      return text.replace(PLACEHOLDER, (_, number: string) => isolated(values.get(number) ?? ""));
    }
  }
  return undefined;
}
