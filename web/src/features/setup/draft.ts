import { useState } from "react";

const PREFIX = "moothall.setup.";

/** What was typed in a step and not saved, or null. It lasts as long as the tab. */
export function readDraft(step: string, storage: Storage = sessionStorage): object | null {
  try {
    const stored: unknown = JSON.parse(storage.getItem(PREFIX + step) ?? "null");
    return typeof stored === "object" ? stored : null;
  } catch {
    return null;
  }
}

export function writeDraft(step: string, draft: object | null, storage: Storage = sessionStorage): void {
  if (draft === null) {
    storage.removeItem(PREFIX + step);
  } else {
    storage.setItem(PREFIX + step, JSON.stringify(draft));
  }
}

interface Draft<T> {
  value: T;
  set: <Key extends keyof T>(key: Key, next: T[Key]) => void;
  /** What differs from the saved values. */
  changes: Partial<T>;
  isDirty: boolean;
  /** Forget what was typed: it is saved. */
  clear: () => void;
}

/** Edits values whose changes are there again after leaving the step; those of `secrets` are never stored. */
export function useDraft<T extends object>(
  step: string,
  saved: T,
  secrets: readonly (keyof T)[] = [],
): Draft<T> {
  const [edits, setEdits] = useState<Partial<T>>(() => readDraft(step) ?? {});
  const value = { ...saved, ...edits };
  const changes = Object.fromEntries(
    (Object.keys(value) as (keyof T)[])
      .filter((key) => value[key] !== saved[key])
      .map((key) => [key, value[key]]),
  ) as Partial<T>;
  return {
    value,
    set: (key, next) => {
      const made = { ...edits, [key]: next };
      setEdits(made);
      writeDraft(
        step,
        Object.fromEntries(Object.entries(made).filter(([name]) => !secrets.includes(name as keyof T))),
      );
    },
    changes,
    isDirty: Object.keys(changes).length > 0,
    clear: () => {
      setEdits({});
      writeDraft(step, null);
    },
  };
}
