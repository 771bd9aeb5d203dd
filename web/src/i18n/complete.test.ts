import { parse, TYPE, type MessageFormatElement } from "@formatjs/icu-messageformat-parser";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { LOCALES } from "./locales";

const FILES = readdirSync("src/i18n", { recursive: true, encoding: "utf8" }).filter((name) =>
  /(?:^|\/)en\.json$/.test(name),
);
const OTHERS = LOCALES.filter((locale) => locale !== "en");
const CASES = OTHERS.flatMap((locale) => FILES.map((file) => [locale, file] as const));
/** Forms that stand for millions alone: the one for other numbers serves them. */
const OF_MILLIONS: ReadonlySet<string> = new Set(["fr", "es", "pt"]);

type Catalog = Record<string, string>;

function read(file: string): Catalog {
  return JSON.parse(readFileSync(`src/i18n/${file}`, "utf8")) as Catalog;
}

/** The arguments and tags that a text names, and what its plurals lack in a language. */
function inspect(text: string, locale: string): { names: string[]; missing: string[] } {
  const names = new Set<string>();
  const missing: string[] = [];
  const walk = (elements: readonly MessageFormatElement[]): boolean => {
    let counts = false;
    for (const element of elements) {
      if (element.type === TYPE.pound) {
        counts = true;
      } else if (element.type === TYPE.tag) {
        names.add(`<${element.value}>`);
        counts = walk(element.children) || counts;
      } else if (element.type === TYPE.plural || element.type === TYPE.select) {
        names.add(element.value);
        const options = Object.values(element.options).map((option) => walk(option.value));
        if (element.type === TYPE.plural && options.includes(true)) {
          const rules = new Intl.PluralRules(locale, { type: element.pluralType ?? "cardinal" });
          for (const form of rules.resolvedOptions().pluralCategories) {
            if (!(form in element.options) && !(form === "many" && OF_MILLIONS.has(locale))) {
              missing.push(form);
            }
          }
        }
      } else if ("value" in element && element.type !== TYPE.literal) {
        names.add(element.value);
      }
    }
    return counts;
  };
  walk(parse(text));
  return { names: [...names].sort(), missing };
}

function readOwn(file: string, locale: string): Catalog {
  const path = file.replace(/en\.json$/, `${locale}.json`);
  return existsSync(`src/i18n/${path}`) ? read(path) : {};
}

test.each(CASES)("%s has each text of %s", (locale, file) => {
  const own = readOwn(file, locale);
  expect(Object.keys(read(file)).filter((id) => !(id in own))).toEqual([]);
});

test.each(CASES)(
  "each text of %s is one of %s, with its arguments and its forms of numbers",
  (locale, file) => {
    const english = read(file);
    const own = readOwn(file, locale);
    expect(Object.keys(own).filter((id) => !(id in english))).toEqual([]);
    const wrong = Object.entries(own).flatMap(([id, text]) => {
      const { names, missing } = inspect(text, locale);
      const isSame = names.join() === inspect(english[id] ?? "", "en").names.join();
      return isSame && missing.length === 0 && text.trim() !== "" ? [] : [`${id}: ${text} ${missing.join()}`];
    });
    expect(wrong).toEqual([]);
  },
);

test("a text that lacks an argument or a form is noticed", () => {
  expect(inspect("{count, plural, one {# a} other {# b}} <b>{name}</b>", "pl")).toEqual({
    names: ["<b>", "count", "name"],
    missing: ["few", "many"],
  });
});
