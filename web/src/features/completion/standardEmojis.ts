import { emojiLocale, type Locale } from "../../i18n/locales";
import type { StandardEmoji } from "./completion";

const loaded = new Map<Locale, Promise<readonly StandardEmoji[]>>();

/** The standard emojis with their names, from this server; requested once for each language. */
export function loadStandardEmojis(locale: Locale): Promise<readonly StandardEmoji[]> {
  let emojis = loaded.get(locale);
  if (emojis === undefined) {
    emojis = request(locale);
    loaded.set(locale, emojis);
    // After a failure the next one tries again.
    emojis.catch(() => loaded.delete(locale));
  }
  return emojis;
}

async function request(locale: Locale): Promise<readonly StandardEmoji[]> {
  const response = await fetch(`/app/emojibase/${emojiLocale(locale)}/names.json`);
  if (!response.ok) {
    throw new Error(`HTTP ${response.status}`);
  }
  const rows = (await response.json()) as string[][];
  return rows.map(([emoji = "", ...names]) => ({ emoji, names }));
}
