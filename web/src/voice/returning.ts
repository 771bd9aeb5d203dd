/** The channel that this tab was in when its page ended. */
export interface Return {
  guildId: string;
  channelId: string;
}

interface StoredReturn extends Return {
  userId: string;
  at: number;
}

const KEY = "moothall.voice.return";
/** A channel that was left longer ago is not offered any more. */
const MAX_AGE_MS = 60_000;

/** Remember where an account is connected, for the page that this tab loads next; null for nowhere. */
export function rememberReturn(
  userId: string,
  channel: Return | null,
  storage: Storage = sessionStorage,
): void {
  if (channel === null) {
    storage.removeItem(KEY);
  } else {
    const { guildId, channelId } = channel;
    storage.setItem(
      KEY,
      JSON.stringify({ userId, guildId, channelId, at: Date.now() } satisfies StoredReturn),
    );
  }
}

/** Where an account was connected until less than a minute ago; null for nowhere. */
export function readReturn(
  userId: string,
  storage: Storage = sessionStorage,
): (Return & { endsAt: number }) | null {
  try {
    const stored = JSON.parse(storage.getItem(KEY) ?? "null") as Partial<StoredReturn> | null;
    const { guildId, channelId, at } = stored ?? {};
    const endsAt = (at ?? 0) + MAX_AGE_MS;
    return stored?.userId === userId && guildId && channelId && endsAt > Date.now()
      ? { guildId, channelId, endsAt }
      : null;
  } catch {
    // A damaged entry counts as none.
    return null;
  }
}
