import { accountKey } from "../session/accounts";

const KEY = "recents";
const MAX = 12;

/** The channels that an account had open on this device, the latest first. */
export function readRecentChannels(userId: string, storage: Storage = localStorage): readonly string[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(accountKey(userId, KEY)) ?? "[]");
    return Array.isArray(stored) ? stored.filter((id) => typeof id === "string").slice(0, MAX) : [];
  } catch {
    // A damaged entry counts as none.
    return [];
  }
}

/** Remember that an account opened a channel. */
export function noteChannel(userId: string, channelId: string, storage: Storage = localStorage): void {
  const before = readRecentChannels(userId, storage);
  if (before[0] !== channelId) {
    const after = [channelId, ...before.filter((id) => id !== channelId)].slice(0, MAX);
    storage.setItem(accountKey(userId, KEY), JSON.stringify(after));
  }
}
