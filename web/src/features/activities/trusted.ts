const KEY = "moothall.trusted-hosts";

/** Whether the user has said that links to a host need no question. */
export function isTrusted(url: URL): boolean {
  return hosts().includes(url.host);
}

export function trust(url: URL): void {
  localStorage.setItem(KEY, JSON.stringify([...new Set([...hosts(), url.host])]));
}

function hosts(): string[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(stored) ? stored.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}
