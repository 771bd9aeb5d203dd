/** What the owner of a new guild does first, read from the guild itself, and whether they still want to see it. */
import type { APIChannel } from "discord-api-types/v10";

import { ChannelType } from "../../api/enums";
import type { GuildState } from "../../store/state";

export const STEPS = ["invite", "icon", "channels", "rules", "bot"] as const;
export type Step = (typeof STEPS)[number];

/** A guild begins with a text and a voice channel. */
const FIRST_CHANNELS = 2;
const RULES_NAMES: ReadonlySet<string> = new Set(["rules", "regeln"]);
const EPOCH_MS = 1_420_070_400_000n;
const DAY_MS = 86_400_000;
/** Guilds that are older have begun, however they look. */
const MAX_AGE_DAYS = 30;

/** The steps that are done. `channels` are those of the guild. */
export function stepsDone(guild: GuildState, channels: readonly APIChannel[]): ReadonlySet<Step> {
  const rooms = channels.filter(({ type }) => type !== ChannelType.GuildCategory);
  const isDone: Readonly<Record<Step, boolean>> = {
    invite: guild.memberCount > 1,
    icon: guild.icon !== null,
    channels: rooms.length > FIRST_CHANNELS,
    rules: guild.rulesChannelId !== null || rooms.some(({ name }) => RULES_NAMES.has(name ?? "")),
    bot: Object.values(guild.roles).some(({ tags }) => tags?.bot_id !== undefined),
  };
  return new Set(STEPS.filter((step) => isDone[step]));
}

/** Whether a guild was created in the last weeks. */
export function isNew(guildId: string, now: number): boolean {
  const createdAt = Number((BigInt(guildId) >> 22n) + EPOCH_MS);
  return now - createdAt < MAX_AGE_DAYS * DAY_MS;
}

/** The flag of an account's settings for a guild with which the list is closed on all its devices. The API has no such. */
const HIDDEN = 1 << 24;

/** Whether the account has closed the list. `flags` are those of its settings for the guild. */
export function isHidden(flags: number): boolean {
  return (flags & HIDDEN) !== 0;
}

/** The same flags with the list closed. */
export function hidden(flags: number): number {
  return flags | HIDDEN;
}
