/** The emojis that an account has used last on this device, newest first, and its skin tone. They go when it logs out. */
import { accountKey } from "../session/accounts";

export interface UsedEmoji {
  /** Null for standard emojis. */
  id: string | null;
  name: string;
}

export const SKIN_TONES = ["none", "light", "medium-light", "medium", "medium-dark", "dark"] as const;
export type SkinTone = (typeof SKIN_TONES)[number];

const MAX_RECENTS = 18;
/** What is offered until there are enough of the user's own. */
const COMMON: readonly UsedEmoji[] = ["👍", "❤️", "😂", "🎉", "👀"].map((name) => ({ id: null, name }));

export function readRecents(userId: string, storage: Storage = localStorage): UsedEmoji[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(accountKey(userId, "emojis")) ?? "[]");
    return Array.isArray(stored) ? stored.filter(isUsedEmoji).slice(0, MAX_RECENTS) : [];
  } catch {
    return [];
  }
}

/** Put an emoji before the others. */
export function addRecent(userId: string, emoji: UsedEmoji, storage: Storage = localStorage): void {
  const { id, name } = emoji;
  const others = readRecents(userId, storage).filter((each) => !isSame(each, emoji));
  const all = [{ id, name }, ...others].slice(0, MAX_RECENTS);
  storage.setItem(accountKey(userId, "emojis"), JSON.stringify(all));
}

/** The emojis that are at hand for a reaction: those used last, then common ones. */
export function quickEmojis(recents: readonly UsedEmoji[], count: number): UsedEmoji[] {
  const others = COMMON.filter((each) => !recents.some((recent) => isSame(recent, each)));
  return [...recents, ...others].slice(0, count);
}

export function readSkinTone(userId: string, storage: Storage = localStorage): SkinTone {
  const stored = storage.getItem(accountKey(userId, "skinTone"));
  return SKIN_TONES.find((each) => each === stored) ?? "none";
}

export function writeSkinTone(userId: string, tone: SkinTone, storage: Storage = localStorage): void {
  storage.setItem(accountKey(userId, "skinTone"), tone);
}

function isSame(a: UsedEmoji, b: UsedEmoji): boolean {
  return a.id === b.id && (a.id !== null || a.name === b.name);
}

function isUsedEmoji(value: unknown): value is UsedEmoji {
  const emoji = value as UsedEmoji | null;
  return typeof emoji?.name === "string" && (emoji.id === null || /^\d{1,20}$/.test(emoji.id));
}
