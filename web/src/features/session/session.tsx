import { replaceEqualDeep } from "@tanstack/react-query";
import { createContext, useContext, useEffect, useRef, useState, type ReactNode } from "react";

import { logOut as endSession, modifyCurrentUser, type AccountChanges } from "../../api/accounts";
import { ApiClient } from "../../api/client";
import { ApiError } from "../../api/errors";
import type { GatewayConnection } from "../../gateway/connection";
import type { State } from "../../store/state";
import { Store, useSelect } from "../../store/store";
import { chooseAccount, noteUnknownLogout, removeAccount, updateAccount, type Account } from "./accounts";
import { takeConnection } from "./connecting";
import { followPresence } from "./presence";
import { askForProof } from "./proofs";

/** Everything that belongs to the account in use. */
export interface Session {
  account: Account;
  api: ApiClient;
  store: Store;
  gateway: GatewayConnection;
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

const SessionContext = createContext<Session | null>(null);

interface SessionProviderProps {
  account: Account;
  /** Called once the account is logged out, here or elsewhere, has a new token, or another is to be used. */
  onChange: () => void;
  children: ReactNode;
}

/** A session with what ends it. */
interface OpenSession extends Session {
  /** Called once the account is logged out, here or elsewhere, has a new token, or another is to be used. */
  onChange: () => void;
  close: () => void;
}

/** The session that was opened before anything was drawn, until it is taken. */
let opened: OpenSession | null = null;

/** Connect an account already while the first screen's texts and code are loaded. */
export function openEarly(account: Account): Session {
  return (opened ??= openSession(account));
}

/** The session that was opened early, if it is of this login; another one is closed. */
function takeOpened({ userId, token }: Account): OpenSession | null {
  const session = opened;
  opened = null;
  if (session?.account.userId === userId && session.account.token === token) {
    return session;
  }
  session?.close();
  return null;
}

function openSession({ userId, token }: Account): OpenSession {
  // The server ends the login with the old token before it answers with the new one.
  let changesToken = false;
  const forget = () => {
    if (!changesToken) {
      removeAccount({ userId, token });
      session.onChange();
    }
  };
  const api = new ApiClient(token, forget, askForProof);
  const store = new Store();
  const gateway = takeConnection({ userId, token });
  const stopFollowing = followPresence(store, gateway);
  const stopNaming = store.subscribe(() => {
    const { user } = store.state;
    if (user !== null) {
      rememberUser(userId, user.username, user.avatar);
    }
  });
  const session: OpenSession = {
    account: { userId, token },
    api,
    store,
    gateway,
    onChange: () => undefined,
    logOut: async () => {
      await endSession(api).catch((error: unknown) => {
        if (!(error instanceof ApiError && error.status === 401)) {
          noteUnknownLogout();
        }
      });
      forget();
    },
    switchAccount: (otherId) => {
      chooseAccount(otherId);
      session.onChange();
    },
    changePassword: async (changes) => {
      const { goOn } = await session.changeToken(() => modifyCurrentUser(api, changes));
      goOn();
    },
    changeToken: async (request) => {
      changesToken = true;
      try {
        const result = await request(api);
        updateAccount(userId, { token: result.token ?? token });
        return {
          result,
          goOn: () => {
            changesToken = false;
            session.onChange();
          },
        };
      } catch (error) {
        changesToken = false;
        throw error;
      }
    },
    close: () => {
      stopFollowing();
      stopNaming();
      gateway.close();
    },
  };
  gateway.listen({
    onDispatch: (name, data) => store.dispatch(name, data),
    onStatus: (status) => {
      store.update((state) => ({ ...state, status }));
      if (status === "closed") {
        forget();
      }
    },
  });
  return session;
}

/** Connects an account for as long as it is rendered. */
export function SessionProvider({ account, onChange, children }: SessionProviderProps) {
  const [session, setSession] = useState<Session | null>(null);
  const onChangeRef = useRef(onChange);
  useEffect(() => {
    onChangeRef.current = onChange;
  }, [onChange]);
  const { userId, token } = account;

  useEffect(() => {
    const started = takeOpened({ userId, token }) ?? openSession({ userId, token });
    started.onChange = () => onChangeRef.current();
    if (started.store.state.status === "closed") {
      // The login had ended before the screen was there to learn of it.
      started.onChange();
    }
    // eslint-disable-next-line react-hooks/set-state-in-effect -- the effect opens the connection that is shown
    setSession(started);
    return () => started.close();
  }, [userId, token]);

  return session && <SessionContext value={session}>{children}</SessionContext>;
}

let remembered = "";

/** Keep the name and avatar of an account for the list of accounts. */
function rememberUser(userId: string, name: string, avatar: string | null): void {
  const key = `${userId} ${name} ${avatar ?? ""}`;
  if (key !== remembered) {
    remembered = key;
    updateAccount(userId, { name, avatar });
  }
}

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
