import { useSyncExternalStore } from "react";

import { useSession } from "../session/session";
import type { Combination } from "./combinations";
import {
  keybindsOf,
  readChanges,
  withKeys,
  type KeybindChanges,
  type Keybinds,
  type ShortcutId,
} from "./shortcuts";

/** The keys that users have chosen for shortcuts. They stay on the device, by account. */
const PREFIX = "moothall.keybinds.";

interface Entry {
  changes: KeybindChanges;
  keybinds: Keybinds;
}

const entries = new Map<string, Entry>();
const listeners = new Set<() => void>();

function entryOf(userId: string): Entry {
  let entry = entries.get(userId);
  if (entry === undefined) {
    let stored: unknown = null;
    try {
      stored = JSON.parse(localStorage.getItem(PREFIX + userId) ?? "{}");
    } catch {
      // A damaged entry counts as none.
    }
    const changes = readChanges(stored);
    entry = { changes, keybinds: keybindsOf(changes) };
    entries.set(userId, entry);
  }
  return entry;
}

function store(userId: string, changes: KeybindChanges): void {
  if (Object.keys(changes).length === 0) {
    localStorage.removeItem(PREFIX + userId);
  } else {
    localStorage.setItem(PREFIX + userId, JSON.stringify(changes));
  }
  forgetEntries();
}

/** Read again what is stored, and tell everything that shows or handles keys. */
function forgetEntries(): void {
  entries.clear();
  for (const listener of listeners) {
    listener();
  }
}

/** Follow changes of this page and of other pages of the client on this device. */
function subscribe(listener: () => void): () => void {
  const onStorage = ({ key }: StorageEvent) => {
    if (key === null || key.startsWith(PREFIX)) {
      forgetEntries();
    }
  };
  listeners.add(listener);
  addEventListener("storage", onStorage);
  return () => {
    listeners.delete(listener);
    removeEventListener("storage", onStorage);
  };
}

/** The keys of an account at this moment, outside of components. */
export function getKeybinds(userId: string): Keybinds {
  return entryOf(userId).keybinds;
}

/** Give a shortcut other keys; null switches it off. */
export function setKeys(userId: string, id: ShortcutId, keys: Combination | null): void {
  store(userId, withKeys(entryOf(userId).changes, id, keys));
}

/** Give a shortcut, or all of them, the keys that it had at first. */
export function resetKeys(userId: string, id?: ShortcutId): void {
  const others = Object.entries(entryOf(userId).changes).filter(([each]) => id !== undefined && each !== id);
  store(userId, Object.fromEntries(others));
}

/** The keys of the account in use. */
export function useKeybinds(): Keybinds {
  const { userId } = useSession().account;
  return useSyncExternalStore(subscribe, () => entryOf(userId).keybinds);
}

/** What the account in use has changed. */
export function useKeybindChanges(): KeybindChanges {
  const { userId } = useSession().account;
  return useSyncExternalStore(subscribe, () => entryOf(userId).changes);
}
