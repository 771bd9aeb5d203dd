import type activities from "./activities/en.json";
import type admin from "./admin/en.json";
import type beginning from "./beginning/en.json";
import type channels from "./channels/en.json";
import type discovery from "./discovery/en.json";
import type en from "./en.json";
import type events from "./events/en.json";
import type factors from "./factors/en.json";
import type guildSettings from "./guild_settings/en.json";
import type inbox from "./inbox/en.json";
import type joining from "./joining/en.json";
import { LOCALES, type Locale } from "./locales";
import type messageActions from "./message_actions/en.json";
import type people from "./people/en.json";
import type permissions from "./permissions/en.json";
import type settings from "./settings/en.json";
import type setup from "./setup/en.json";
import type voice from "./voice/en.json";

type Texts<Catalog> = Record<keyof Catalog, string>;

export type Messages = Texts<typeof en>;

/** Texts that are loaded with the screens that show them, by name of their folder. */
interface Parts {
  admin: Texts<typeof admin>;
  activities: Texts<typeof activities>;
  beginning: Texts<typeof beginning>;
  discovery: Texts<typeof discovery>;
  events: Texts<typeof events>;
  factors: Texts<typeof factors>;
  guild_settings: Texts<typeof guildSettings>;
  inbox: Texts<typeof inbox>;
  joining: Texts<typeof joining>;
  message_actions: Texts<typeof messageActions>;
  people: Texts<typeof people>;
  permissions: Texts<typeof permissions>;
  settings: Texts<typeof settings>;
  setup: Texts<typeof setup>;
  channels: Texts<typeof channels>;
  voice: Texts<typeof voice>;
}

export type Part = keyof Parts;
export type MessageId = keyof Messages | { [Name in Part]: keyof Parts[Name] }[Part];

export { LOCALES, type Locale };

/** The names of the languages in themselves. */
export const LOCALE_NAMES: Record<Locale, string> = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
  pt: "Português (Brasil)",
  pl: "Polski",
  ja: "日本語",
  ar: "العربية",
};

/** The best of our languages for a list of preferences such as `navigator.languages`. */
export function matchLocale(preferences: readonly string[]): Locale {
  for (const preference of preferences) {
    const language = preference.split("-")[0];
    const locale = LOCALES.find((each) => each === language);
    if (locale !== undefined) {
      return locale;
    }
  }
  return "en";
}

/** The languages that the type checker holds complete. */
type Checked = "en" | "de";
type Catalog = Record<string, string>;

/** The files of the other languages: a test holds them complete. */
const OTHERS = import.meta.glob<{ default: Catalog }>("./**/{fr,es,pt,pl,ja,ar}.json");

function isChecked(locale: Locale): locale is Checked {
  return locale === "en" || locale === "de";
}

/** The texts of another language; a text that it does not have yet is English. */
async function loadOther(folder: string, locale: Locale, english: () => Promise<{ default: Catalog }>) {
  const load = OTHERS[`./${folder}${locale}.json`];
  const [{ default: fallback }, own] = await Promise.all([english(), load?.()]);
  return { ...fallback, ...own?.default };
}

/** Each language is a file of its own, loaded when it is used. */
export async function loadMessages(locale: Locale): Promise<Messages> {
  if (locale === "de") {
    return (await import("./de.json")).default;
  }
  const english = () => import("./en.json");
  return locale === "en"
    ? (await english()).default
    : ((await loadOther("", locale, english)) as unknown as Messages);
}

const PARTS: Record<Part, Record<Checked, () => Promise<{ default: Record<string, string> }>>> = {
  beginning: {
    en: () => import("./beginning/en.json"),
    de: (): Promise<{ default: Parts["beginning"] }> => import("./beginning/de.json"),
  },
  admin: {
    en: () => import("./admin/en.json"),
    de: (): Promise<{ default: Parts["admin"] }> => import("./admin/de.json"),
  },
  activities: {
    en: () => import("./activities/en.json"),
    de: (): Promise<{ default: Parts["activities"] }> => import("./activities/de.json"),
  },
  discovery: {
    en: () => import("./discovery/en.json"),
    de: (): Promise<{ default: Parts["discovery"] }> => import("./discovery/de.json"),
  },
  events: {
    en: () => import("./events/en.json"),
    de: (): Promise<{ default: Parts["events"] }> => import("./events/de.json"),
  },
  factors: {
    en: () => import("./factors/en.json"),
    de: (): Promise<{ default: Parts["factors"] }> => import("./factors/de.json"),
  },
  guild_settings: {
    en: () => import("./guild_settings/en.json"),
    de: (): Promise<{ default: Parts["guild_settings"] }> => import("./guild_settings/de.json"),
  },
  inbox: {
    en: () => import("./inbox/en.json"),
    de: (): Promise<{ default: Parts["inbox"] }> => import("./inbox/de.json"),
  },
  joining: {
    en: () => import("./joining/en.json"),
    de: (): Promise<{ default: Parts["joining"] }> => import("./joining/de.json"),
  },
  message_actions: {
    en: () => import("./message_actions/en.json"),
    de: (): Promise<{ default: Parts["message_actions"] }> => import("./message_actions/de.json"),
  },
  people: {
    en: () => import("./people/en.json"),
    de: (): Promise<{ default: Parts["people"] }> => import("./people/de.json"),
  },
  permissions: {
    en: () => import("./permissions/en.json"),
    de: (): Promise<{ default: Parts["permissions"] }> => import("./permissions/de.json"),
  },
  settings: {
    en: () => import("./settings/en.json"),
    de: (): Promise<{ default: Parts["settings"] }> => import("./settings/de.json"),
  },
  setup: {
    en: () => import("./setup/en.json"),
    de: (): Promise<{ default: Parts["setup"] }> => import("./setup/de.json"),
  },
  channels: {
    en: () => import("./channels/en.json"),
    de: (): Promise<{ default: Parts["channels"] }> => import("./channels/de.json"),
  },
  voice: {
    en: () => import("./voice/en.json"),
    de: (): Promise<{ default: Parts["voice"] }> => import("./voice/de.json"),
  },
};

export async function loadPart(part: Part, locale: Locale): Promise<Catalog> {
  if (isChecked(locale)) {
    return (await PARTS[part][locale]()).default;
  }
  return loadOther(`${part}/`, locale, PARTS[part].en);
}
