import { ApiClient } from "../api/client";
import type { Session } from "../features/session/session";
import { Store } from "../store/store";

/** Nothing can be asked of a server that has ended with its tests. */
class EndedServer extends ApiClient {
  override request<T>(): Promise<T> {
    return Promise.reject(new Error("This is a recording: its server has ended."));
  }
}

const nothing = () => undefined;
const refuse = () => Promise.reject(new Error("This is a recording."));

/** A session of a person whose state is set from outside. */
export function recordedSession(userId: string): Session {
  return {
    account: { userId, token: "" },
    api: new EndedServer(null),
    store: new Store(),
    gateway: {
      send: nothing,
      setPresence: nothing,
      subscribe: nothing,
      unsubscribe: nothing,
      retry: nothing,
    },
    logOut: refuse,
    switchAccount: nothing,
    changePassword: refuse,
    changeToken: refuse,
  };
}
