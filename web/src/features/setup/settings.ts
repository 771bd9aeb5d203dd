import { useQueryClient } from "@tanstack/react-query";

import { modifyServerSettings, type ServerSetting } from "../../api/admin";
import { useSession } from "../session/session";

export interface StepProps {
  settings: readonly ServerSetting[];
  /** Go on to what follows. */
  onDone: () => void;
}

export function settingsKey(userId: string): readonly string[] {
  return [userId, "admin", "settings"];
}

/** The value of a setting in force; `fallback` where there is none. */
export function valueOf<T>(settings: readonly ServerSetting[], name: string, fallback: T): T {
  const value = settings.find((each) => each.name === name)?.value;
  return value === null || value === undefined ? fallback : (value as T);
}

/** A function that changes settings while the instance is set up. */
export function useSaveSettings(): (changes: Record<string, unknown>) => Promise<void> {
  const { api, account } = useSession();
  const client = useQueryClient();
  return async (changes) => {
    client.setQueryData(settingsKey(account.userId), await modifyServerSettings(api, changes, "setup"));
  };
}
