import { useState } from "react";

import { changedFields } from "./changedFields";
import { fieldError, useAction } from "./useAction";

export interface SettingsForm<T extends object> {
  value: T;
  set: <Key extends keyof T>(key: Key, value: T[Key]) => void;
  /** The fields whose value differs from the saved one. */
  changes: Partial<T>;
  isDirty: boolean;
  pending: boolean;
  error: unknown;
  /** The message of a refused field. */
  errorOf: (path: string) => string | undefined;
  /** Save the changes; returns whether it succeeded. */
  save: () => Promise<boolean>;
  reset: () => void;
}

/**
 * Edits settings. `initial` is what is saved at the moment; changes that others make to it show in the fields that the
 * user has not edited.
 */
export function useForm<T extends object>(
  initial: T,
  save: (changes: Partial<T>, value: T) => Promise<unknown>,
): SettingsForm<T> {
  const action = useAction();
  const [edits, setEdits] = useState<Partial<T>>({});
  const [saved, setSaved] = useState<{ before: string; value: T } | null>(null);
  // After saving, until the change arrives from the server, what was saved counts.
  const base = saved !== null && saved.before === JSON.stringify(initial) ? saved.value : initial;
  const value = { ...base, ...edits };
  const changes = changedFields(base, value);
  return {
    value,
    set: (key, next) => setEdits((before) => ({ ...before, [key]: next })),
    changes,
    isDirty: Object.keys(changes).length > 0,
    pending: action.pending,
    error: action.error,
    errorOf: (path) => fieldError(action.error, path),
    save: async () => {
      const succeeded = await action.run(() => save(changes, value));
      if (succeeded) {
        setSaved({ before: JSON.stringify(initial), value });
        setEdits({});
      }
      return succeeded;
    },
    reset: () => {
      setEdits({});
      void action.run(() => Promise.resolve());
    },
  };
}
