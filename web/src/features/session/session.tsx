import { replaceEqualDeep } from "@tanstack/react-query";
import { createContext, useContext, useState } from "react";

import type { AccountChanges } from "../../api/accounts";
import type { ApiClient } from "../../api/client";
import type { GatewayConnection } from "../../gateway/connection";
import type { State } from "../../store/state";
import { useSelect, type Store } from "../../store/store";
import type { Account } from "./accounts";

/** What the screens ask of the connection. */
export type Gateway = Pick<GatewayConnection, "send" | "setPresence" | "subscribe" | "unsubscribe" | "retry">;

/** Everything that belongs to the account in use. */
export interface Session {
  account: Account;
  api: ApiClient;
  store: Store;
  gateway: Gateway;
  logOut: () => Promise<void>;
  /** Use another account of this device. */
  switchAccount: (userId: string) => void;
  /** Change the password, which ends all other logins, and go on with the new token. */
  changePassword: (changes: AccountChanges) => Promise<void>;
  /**
   * Send a request that ends all logins and returns a new token. The token is kept at once, and used once `goOn` is
   * called: until then the screen can show the result.
   */
  changeToken: <T extends { token?: string }>(
    request: (api: ApiClient) => Promise<T>,
  ) => Promise<{ result: T; goOn: () => void }>;
}

/** Who draws the screens sets it: a session that is connected, or one that was recorded. */
export const SessionContext = createContext<Session | null>(null);

export function useSession(): Session {
  const session = useContext(SessionContext);
  if (session === null) {
    throw new Error("useSession outside of a SessionProvider");
  }
  return session;
}

/** The session, or null outside of one: on pages that need no login. */
export function useOptionalSession(): Session | null {
  return useContext(SessionContext);
}

/** Read a part of the account's state. `select` must return the same object for the same state. */
export function useAppState<T>(select: (state: State) => T): T {
  return useSelect(useSession().store, select);
}

/** The same for what `select` makes anew each time: the component renders again when the content changes. */
export function useDerived<T>(select: (state: State) => T): T {
  const [same] = useState(() => {
    let last: T | undefined;
    return (next: T): T => {
      last = replaceEqualDeep(last, next);
      return last;
    };
  });
  return useAppState((state) => same(select(state)));
}
