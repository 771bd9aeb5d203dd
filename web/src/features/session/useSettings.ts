import { modifySettings } from "../../api/settings";
import type { UserSettings } from "../../store/userSettings";
import { useAppState, useSession, type Session } from "./session";
import { useAction, type Action } from "./useAction";

/** Change settings on the server, and here at once. */
export async function changeSettings(
  session: Session,
  changes: Partial<UserSettings> & { locale?: string; theme?: string },
): Promise<void> {
  await modifySettings(session.api, changes);
  session.store.dispatch("USER_SETTINGS_UPDATE", changes);
}

/** The user's settings, and a function that changes them. */
export function useSettings(): {
  settings: UserSettings;
  change: (changes: Partial<UserSettings>) => Promise<boolean>;
  action: Action;
} {
  const session = useSession();
  const settings = useAppState((state) => state.settings);
  const action = useAction();
  const change = (changes: Partial<UserSettings>) => action.run(() => changeSettings(session, changes));
  return { settings, change, action };
}
