/** The accounts that are logged in on this device; the first one is in use. */
export interface Account {
  userId: string;
  token: string;
  /** The name and avatar that were seen last, for lists of accounts. */
  name?: string;
  avatar?: string | null;
}

const KEY = "moothall.accounts";
const PREFIX = "moothall.account.";

/** The key under which this device stores something of an account; it goes when the account is logged out. */
export function accountKey(userId: string, name: string): string {
  return `${PREFIX}${userId}.${name}`;
}

const LEFT = "moothall.left";

/** Note that somebody has logged out here without the server's knowledge, so that the pages' login is still good. */
export function noteUnknownLogout(storage: Storage = localStorage): void {
  storage.setItem(LEFT, "1");
}

/** Whether the client may go on with the pages' login: no account is in use, and none was left without an answer. */
export function mayTakePagesLogin(storage: Storage = localStorage): boolean {
  return readAccounts(storage).length === 0 && storage.getItem(LEFT) === null;
}

export function readAccounts(storage: Storage = localStorage): Account[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isAccount) : [];
  } catch {
    return [];
  }
}

/** Use an account from now on; others stay logged in. */
export function addAccount(account: Account, storage: Storage = localStorage): void {
  const others = readAccounts(storage).filter((each) => each.userId !== account.userId);
  write([account, ...others], storage);
  storage.removeItem(LEFT);
}

/** Change what is stored about an account that is logged in. */
export function updateAccount(
  userId: string,
  changes: Partial<Account>,
  storage: Storage = localStorage,
): void {
  write(
    readAccounts(storage).map((each) => (each.userId === userId ? { ...each, ...changes } : each)),
    storage,
  );
}

/** Use another account that is logged in. */
export function chooseAccount(userId: string, storage: Storage = localStorage): void {
  const accounts = readAccounts(storage);
  const chosen = accounts.filter((each) => each.userId === userId);
  write([...chosen, ...accounts.filter((each) => each.userId !== userId)], storage);
}

/**
 * Forget an account whose login has ended. An account that has another token by now stays: the end of its old login may
 * become known after a new password brought the new one.
 */
export function removeAccount({ userId, token }: Account, storage: Storage = localStorage): void {
  const others = readAccounts(storage).filter((each) => each.userId !== userId || each.token !== token);
  write(others, storage);
  if (others.every((each) => each.userId !== userId)) {
    Array.from({ length: storage.length }, (_, index) => storage.key(index))
      .filter((key) => key?.startsWith(accountKey(userId, "")))
      .forEach((key) => storage.removeItem(key ?? ""));
  }
}

function write(accounts: readonly Account[], storage: Storage): void {
  storage.setItem(KEY, JSON.stringify(accounts));
}

function isAccount(value: unknown): value is Account {
  const account = value as Account | null;
  return typeof account?.userId === "string" && typeof account.token === "string";
}
