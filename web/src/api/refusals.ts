import type { Locale } from "../i18n/locales";
import type { ApiError } from "./errors";

let currentLocale: () => Locale = () => "en";

/** Set what tells the language in use, which refusals are shown in. */
export function setRefusalLocale(read: () => Locale): void {
  currentLocale = read;
}

/** The refusal with its texts in the language in use. They are English on the wire, and stay so if they have no other. */
export async function inLanguageInUse(error: ApiError): Promise<ApiError> {
  const locale = currentLocale();
  if (locale === "en") {
    return error;
  }
  try {
    const { loadRefusals } = await import("../i18n/refusals/translation");
    return error.translated(await loadRefusals(locale));
  } catch {
    // The files with the texts cannot be loaded.
    return error;
  }
}
