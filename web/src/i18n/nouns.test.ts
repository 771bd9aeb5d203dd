import { readdirSync, readFileSync } from "node:fs";

import { expect, test } from "vitest";

/** What a guild of the API is never called: it is a server in every language, and what runs it an instance. */
const OTHER_NOUNS: Readonly<Record<string, RegExp>> = {
  en: /(?<![{\w])guilds?(?!\w|[,}])/i,
  fr: /\bguildes?\b/i,
  es: /\bgremios?\b/i,
  pt: /\bguildas?\b/i,
  pl: /\bgildi[aięąe]/i,
  ja: /ギルド/,
  ar: /نقابة/,
  de: /\b(?:Gilden?|Gemeinschaften|Gemeinschaft (?:verlassen|erstellen|beitreten))\b|\bGuilds?\b/,
};
const FILES = readdirSync("src/i18n", { recursive: true, encoding: "utf8" }).filter((name) =>
  /(?:^|\/)(?:en|de|fr|es|pt|pl|ja|ar)\.json$/.test(name),
);

function refusedTexts(language: string, texts: Record<string, string>): string[] {
  const other = OTHER_NOUNS[language];
  return Object.entries(texts).flatMap(([id, text]) => (other?.test(text) ? [`${id}: ${text}`] : []));
}

test.each(FILES)("%s has one noun for a server", (file) => {
  const [, language = ""] = /(\w+)\.json$/.exec(file) ?? [];
  const texts = JSON.parse(readFileSync(`src/i18n/${file}`, "utf8")) as Record<string, string>;
  expect(refusedTexts(language, texts)).toEqual([]);
});

test("a second noun is noticed, the name of an argument is not", () => {
  expect(refusedTexts("en", { one: "Leave guild", two: "Your guilds." })).toHaveLength(2);
  expect(refusedTexts("en", { one: "You see {guild} as {roles}." })).toEqual([]);
  expect(refusedTexts("en", { one: "{guild, select, other {x}}" })).toEqual([]);
  expect(refusedTexts("de", { one: "Gilde verlassen" })).toHaveLength(1);
});
