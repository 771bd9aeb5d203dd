import { useSyncExternalStore } from "react";

/** How loud one account hears somebody on this device. */
export interface UserVolume {
  /** In percent, up to 200. */
  volume: number;
  muted: boolean;
}

export const DEFAULT_VOLUME: UserVolume = { volume: 100, muted: false };
/** In percent. */
export const VOLUME_MAX = 200;

type Volumes = Readonly<Record<string, UserVolume>>;

const stores = new Map<string, Volumes>();
const listeners = new Set<() => void>();

/** The volumes in a stored value, without what is damaged or as at first. */
export function readVolumes(stored: unknown): Volumes {
  const volumes: Record<string, UserVolume> = {};
  for (const [userId, value] of Object.entries(
    (stored ?? {}) as Record<string, Partial<UserVolume> | null>,
  )) {
    const volume = typeof value?.volume === "number" ? Math.min(VOLUME_MAX, Math.max(0, value.volume)) : 100;
    const muted = value?.muted === true;
    if (/^\d+$/.test(userId) && (muted || volume !== 100)) {
      volumes[userId] = { volume, muted };
    }
  }
  return volumes;
}

function volumesAt(key: string): Volumes {
  let volumes = stores.get(key);
  if (volumes === undefined) {
    let stored: unknown = null;
    try {
      stored = JSON.parse(localStorage.getItem(key) ?? "null");
    } catch {
      // A damaged entry counts as none.
    }
    volumes = readVolumes(typeof stored === "object" ? stored : null);
    stores.set(key, volumes);
  }
  return volumes;
}

/** How loud a user is heard; `key` is that of the account's storage. */
export function getVolume(key: string, userId: string): UserVolume {
  return volumesAt(key)[userId] ?? DEFAULT_VOLUME;
}

export function setVolume(key: string, userId: string, changes: Partial<UserVolume>): void {
  const volumes = readVolumes({
    ...volumesAt(key),
    [userId]: { ...getVolume(key, userId), ...changes },
  });
  stores.set(key, volumes);
  localStorage.setItem(key, JSON.stringify(volumes));
  for (const listener of listeners) {
    listener();
  }
}

export function subscribeVolumes(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useVolume(key: string, userId: string): UserVolume {
  return useSyncExternalStore(subscribeVolumes, () => getVolume(key, userId));
}
