/** How long a custom status lasts. */
export const EXPIRIES = ["never", "30m", "1h", "4h", "today"] as const;
export type Expiry = (typeof EXPIRIES)[number];

const MINUTES: Partial<Record<Expiry, number>> = { "30m": 30, "1h": 60, "4h": 240 };

/** When a status that is set at a time ends (ISO 8601), null for never. "today" lasts until midnight here. */
export function expiresAt(expiry: Expiry, now: Date): string | null {
  if (expiry === "never") {
    return null;
  }
  if (expiry === "today") {
    return new Date(now.getFullYear(), now.getMonth(), now.getDate() + 1).toISOString();
  }
  return new Date(now.getTime() + (MINUTES[expiry] ?? 0) * 60_000).toISOString();
}
