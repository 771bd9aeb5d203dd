import { useEffect, useRef, useState, type ReactNode } from "react";

import { logOut as endSession, modifyCurrentUser } from "../../api/accounts";
import { ApiClient } from "../../api/client";
import { ApiError } from "../../api/errors";
import { Store } from "../../store/store";
import { chooseAccount, noteUnknownLogout, removeAccount, updateAccount, type Account } from "./accounts";
import { takeConnection } from "./connecting";
import { followPresence } from "./presence";
import { askForProof } from "./proofs";
import { SessionContext, type Session } from "./session";

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
