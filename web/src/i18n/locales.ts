export const LOCALES = ["en", "de", "fr", "es", "pt", "pl", "ja", "ar"] as const;
export type Locale = (typeof LOCALES)[number];

/** The languages that names of emojis are there in. */
export type EmojiLocale = Exclude<Locale, "ar">;

/** The language of emojis' names for one of ours. */
export function emojiLocale(locale: Locale): EmojiLocale {
  return locale === "ar" ? "en" : locale;
}

const API_LOCALES: Readonly<Partial<Record<Locale, string>>> = { en: "en-US", es: "es-ES", pt: "pt-BR" };

/** What the API calls a language. */
export function apiLocale(locale: Locale): string {
  return API_LOCALES[locale] ?? locale;
}
