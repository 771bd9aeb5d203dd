import type { GatewayConnection } from "../../gateway/connection";
import type { UserSettings } from "../../store/userSettings";
import type { Store } from "../../store/store";
import { setPreferences } from "../preferences/preferences";
import { customActivities } from "./activities";

/** Timers count milliseconds in 31 bits. */
const MAX_DELAY = 2 ** 31 - 1;

/** Send the status and custom status of the user's settings as the presence, also when they change elsewhere. */
export function followPresence(store: Store, gateway: GatewayConnection): () => void {
  let last: UserSettings | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const send = ({ status, custom_status }: UserSettings) => {
    clearTimeout(timer);
    gateway.setPresence(status, customActivities(custom_status, Date.now()));
    const end = custom_status?.expires_at ? Date.parse(custom_status.expires_at) - Date.now() : 0;
    if (end > 0) {
      timer = setTimeout(
        () => store.dispatch("USER_SETTINGS_UPDATE", { custom_status: null }),
        Math.min(end, MAX_DELAY),
      );
    }
  };
  const stop = store.subscribe(() => {
    const { ready, settings } = store.state;
    if (!ready || settings === last) {
      return;
    }
    const changed = settings.status !== last?.status || settings.custom_status !== last.custom_status;
    last = settings;
    if (changed) {
      setPreferences({ status: settings.status });
      send(settings);
    }
  });
  return () => {
    stop();
    clearTimeout(timer);
  };
}
