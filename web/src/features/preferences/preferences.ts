import { useSyncExternalStore } from "react";

import type { Status } from "../../gateway/protocol";
import { directionOf, type Direction } from "../../i18n/direction";
import { LOCALES, matchLocale, type Locale } from "../../i18n/messages";

/** What the user has chosen on this device. */
export interface Preferences {
  theme: Theme;
  locale: Locale;
  /** The layout of languages that are written from right to left. No control sets it: it is for tests. */
  mirrored: boolean;
  /** The status that was set last, which a connection starts with. */
  status: Status;
  /** No motion, whatever the device is set to. */
  reducedMotion: boolean;
  /** Show notifications of the browser, where it allows them. */
  notifications: boolean;
  /** Count unread mentions in the page's title and icon. */
  titleCount: boolean;
}

const THEMES = ["system", "light", "dark", "contrast"] as const;
type Theme = (typeof THEMES)[number];
const STATUSES: readonly Status[] = ["online", "idle", "dnd", "invisible"];

const KEY = "moothall.preferences";
const listeners = new Set<() => void>();
let current = read();

function read(): Preferences {
  let stored: Partial<Record<keyof Preferences, unknown>> = {};
  try {
    stored = JSON.parse(localStorage.getItem(KEY) ?? "{}") as typeof stored;
  } catch {
    // A damaged entry counts as none.
  }
  return {
    theme: THEMES.find((each) => each === stored.theme) ?? "system",
    locale: LOCALES.find((each) => each === stored.locale) ?? matchLocale(navigator.languages),
    mirrored: stored.mirrored === true,
    status: STATUSES.find((each) => each === stored.status) ?? "online",
    reducedMotion: stored.reducedMotion === true,
    notifications: stored.notifications !== false,
    titleCount: stored.titleCount !== false,
  };
}

export function setPreferences(changes: Partial<Preferences>): void {
  current = { ...current, ...changes };
  localStorage.setItem(KEY, JSON.stringify(current));
  applyPreferences();
  for (const listener of listeners) {
    listener();
  }
}

/** The choices at this moment, outside of components. */
export function getPreferences(): Preferences {
  return current;
}

export function subscribePreferences(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function usePreferences(): Preferences {
  return useSyncExternalStore(subscribePreferences, () => current);
}

/** The direction of the layout. */
export function layoutDirection({ locale, mirrored }: Preferences): Direction {
  return mirrored ? "rtl" : directionOf(locale);
}

/** Put the language, its direction, the theme and the motion onto the document; the device's settings are the default. */
export function applyPreferences(): void {
  const { dataset } = document.documentElement;
  document.documentElement.lang = current.locale;
  document.documentElement.dir = layoutDirection(current);
  if (current.theme === "system") {
    delete dataset["theme"];
  } else {
    dataset["theme"] = current.theme;
  }
  if (current.reducedMotion) {
    dataset["motion"] = "reduced";
  } else {
    delete dataset["motion"];
  }
}
