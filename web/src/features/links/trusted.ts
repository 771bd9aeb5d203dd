/** The hosts that the user has opened links of, or has said to trust: links to them need no question. */
import { accountKey } from "../session/accounts";

const MAX_HOSTS = 1_000;

/** Whether a link opens without a question: it leads to this server or to mail, or its host has been confirmed. */
export function isTrusted(userId: string, url: URL, storage: Storage = localStorage): boolean {
  return url.protocol === "mailto:" || url.origin === location.origin || isConfirmed(userId, url, storage);
}

/** Whether the user has confirmed a link's host. Programs that open links by themselves ask for this server too. */
export function isConfirmed(userId: string, url: URL, storage: Storage = localStorage): boolean {
  return hosts(userId, storage).includes(url.host);
}

/** Open links to a host without a question from now on. */
export function trust(userId: string, url: URL, storage: Storage = localStorage): void {
  const others = hosts(userId, storage).filter((host) => host !== url.host);
  storage.setItem(keyOf(userId), JSON.stringify([url.host, ...others].slice(0, MAX_HOSTS)));
}

function hosts(userId: string, storage: Storage): string[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(keyOf(userId)) ?? "[]");
    return Array.isArray(stored) ? stored.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}

function keyOf(userId: string): string {
  return accountKey(userId, "trusted-hosts");
}
