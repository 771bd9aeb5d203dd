import { useSyncExternalStore } from "react";

import type { Status } from "../../gateway/protocol";
import { directionOf, type Direction } from "../../i18n/direction";
import { HUES, type Hue } from "../../ui/hues";
import { LOCALES, matchLocale, type Locale } from "../../i18n/messages";

/** What the user has chosen on this device. */
export interface Preferences {
  theme: Theme;
  accent: Hue;
  density: Density;
  textSize: TextSize;
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

const THEMES = ["system", "light", "dark", "midnight", "paper", "contrast"] as const;
type Theme = (typeof THEMES)[number];
const DENSITIES = ["cosy", "compact"] as const;
type Density = (typeof DENSITIES)[number];
const TEXT_SIZES = ["small", "normal", "large", "larger"] as const;
type TextSize = (typeof TEXT_SIZES)[number];
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
    accent: HUES.find((each) => each === stored.accent) ?? "ember",
    density: DENSITIES.find((each) => each === stored.density) ?? "cosy",
    textSize: TEXT_SIZES.find((each) => each === stored.textSize) ?? "normal",
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

/** Put the choices onto the document, where styles read them; the device's settings are the default. */
export function applyPreferences(): void {
  const root = document.documentElement;
  root.lang = current.locale;
  root.dir = layoutDirection(current);
  const chosen = {
    theme: current.theme === "system" ? null : current.theme,
    motion: current.reducedMotion ? "reduced" : null,
    accent: current.accent === "ember" ? null : current.accent,
    density: current.density === "cosy" ? null : current.density,
    text: current.textSize === "normal" ? null : current.textSize,
  };
  for (const [name, value] of Object.entries(chosen)) {
    if (value === null) {
      root.removeAttribute(`data-${name}`);
    } else {
      root.setAttribute(`data-${name}`, value);
    }
  }
}
