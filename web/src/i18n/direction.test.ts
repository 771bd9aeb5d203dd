import { expect, test } from "vitest";

import { directionOf, isolated } from "./direction";
import { LOCALES } from "./locales";

test("a language is written in the direction of its script", () => {
  expect(["ar", "he", "fa", "ur", "ps", "yi", "dv", "ar-EG", "az-Arab"].map(directionOf)).toEqual(
    Array<string>(9).fill("rtl"),
  );
  expect(["en", "de", "ja", "az", "he-Latn"].map(directionOf)).toEqual(Array<string>(5).fill("ltr"));
  expect(LOCALES.filter((locale) => directionOf(locale) === "rtl")).toEqual(["ar"]);
});

test("only names that run against the sentence are isolated", () => {
  expect(isolated("general")).toBe("general");
  expect(isolated("Größe 3")).toBe("Größe 3");
  expect(isolated("كرة القدم!")).toBe("\u2068كرة القدم!\u2069");
  expect(isolated("שלום, Ada")).toBe("\u2068שלום, Ada\u2069");
  expect(isolated("Ada (3)", "rtl")).toBe("\u2068Ada (3)\u2069");
  expect(isolated("كرة القدم", "rtl")).toBe("كرة القدم");
});
