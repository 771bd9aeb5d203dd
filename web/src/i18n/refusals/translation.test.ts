import { expect, test } from "vitest";

import { loadRefusals, refusalTranslator } from "./translation";

const translate = refusalTranslator({
  "Unknown Channel": "Diesen Kanal gibt es nicht.",
  "Unknown {0}": "Unbekannt: {0}.",
  "Must be {0} or fewer in length.": "Die Länge darf höchstens {0} betragen.",
  "Must be between {0} and {1} in length.": "Zwischen {0} und {1} lang.",
  "{0} is not of {1}.": "Zu {1} gehört {0} nicht.",
  "Value must be one of {{0}}.": "Möglich ist nur: {0}.",
  "Value must be {0}.": "Es muss {0} sein.",
  "Name cannot contain “{0}” (really?)": "Der Name darf „{0}“ nicht enthalten.",
  "The password is too weak.": "Das Passwort ist zu schwach.",
  "Add a word or two.": "Füge ein oder zwei Wörter hinzu.",
});

test("a text that is in the catalogue is translated", () => {
  expect(translate("Unknown Channel")).toBe("Diesen Kanal gibt es nicht.");
});

test("a text that is not in the catalogue stays English", () => {
  expect(translate("Something new")).toBe("Something new");
  expect(translate("")).toBe("");
});

test("values stand where the translation has their placeholders", () => {
  expect(translate("Must be 2000 or fewer in length.")).toBe("Die Länge darf höchstens 2000 betragen.");
  expect(translate("Must be between 2 and 32 in length.")).toBe("Zwischen 2 und 32 lang.");
  expect(translate("123 is not of this guild.")).toBe("Zu this guild gehört 123 nicht.");
});

test("a value may have any characters", () => {
  expect(translate("Unknown $& {1}\n(.*)")).toBe("Unbekannt: $& {1}\n(.*).");
  expect(translate("Name cannot contain “?” (really?)")).toBe("Der Name darf „?“ nicht enthalten.");
  expect(translate("Unknown שלום")).toBe("Unbekannt: \u2068שלום\u2069.");
});

test("a placeholder stands for at least one character", () => {
  expect(translate("Unknown ")).toBe("Unknown ");
});

test("a whole text comes before placeholders, then the key with the most characters", () => {
  expect(translate("Unknown Channel")).toBe("Diesen Kanal gibt es nicht.");
  expect(translate("Unknown Role")).toBe("Unbekannt: Role.");
  expect(translate("Value must be one of {1, 2}.")).toBe("Möglich ist nur: 1, 2.");
  expect(translate("Value must be null.")).toBe("Es muss null sein.");
});

test("sentences are translated one by one where all are known", () => {
  expect(translate("The password is too weak. Add a word or two.")).toBe(
    "Das Passwort ist zu schwach. Füge ein oder zwei Wörter hinzu.",
  );
  expect(translate("The password is too weak. Add nothing.")).toBe("The password is too weak. Add nothing.");
});

test("the German catalogue translates what the API says", async () => {
  const german = await loadRefusals("de");
  expect(await loadRefusals("de")).toBe(german);
  expect(german("Missing Permissions")).toBe("Dazu fehlt dir die Berechtigung.");
  expect(german("Must be between 2 and 32 in length.")).toBe("Die Länge muss zwischen 2 und 32 liegen.");
  expect(german("Scheme \"ftp\" is not supported. Scheme must be one of ('http', 'https').")).toBe(
    "Eine Adresse kann hier nicht mit „ftp“ beginnen, nur mit: 'http', 'https'.",
  );
  expect(
    german("Password is too weak or common to use. Add another word or two. Uncommon words are better."),
  ).toBe(
    "Das Passwort ist zu schwach oder zu verbreitet. Füge ein oder zwei Wörter hinzu. Seltene Wörter sind besser.",
  );
});
