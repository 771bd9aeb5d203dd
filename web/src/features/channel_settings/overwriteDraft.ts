/**
 * The changes of a channel's overwrites that are not saved yet: one draft for all roles and members. What another
 * moderator changes meanwhile stays, but for the targets that the draft has.
 */
import type { APIChannel, APIOverwrite } from "discord-api-types/v10";

import { ChannelType, OverwriteType, Permission } from "../../api/enums";
import type { Overwrite } from "../permissions/PermissionList";

/** The overwrite of each changed target; null removes it. */
export type OverwriteDraft = Readonly<Record<string, Overwrite | null>>;

type Saved = readonly APIOverwrite[];

const NONE: Overwrite = { allow: 0n, deny: 0n };

export const NO_OVERWRITES: Saved = [];

/** The saved overwrites of a channel. */
export function overwritesOf(channel: APIChannel): Saved {
  return "permission_overwrites" in channel
    ? (channel.permission_overwrites ?? NO_OVERWRITES)
    : NO_OVERWRITES;
}

/** The type of an overwrite as the API takes it: 0 for a role, 1 for a member. */
function typeOf(saved: Saved, id: string, isRole: (id: string) => boolean): 0 | 1 {
  const type =
    saved.find((each) => each.id === id)?.type ?? (isRole(id) ? OverwriteType.Role : OverwriteType.Member);
  return type === OverwriteType.Role ? 0 : 1;
}

function savedOverwrite(saved: Saved, id: string): Overwrite | null {
  const overwrite = saved.find((each) => each.id === id);
  return overwrite === undefined ? null : { allow: BigInt(overwrite.allow), deny: BigInt(overwrite.deny) };
}

function isSame(a: Overwrite | null, b: Overwrite | null): boolean {
  return a === b || (a !== null && b !== null && a.allow === b.allow && a.deny === b.deny);
}

/** The overwrite of a role or member with the changes; null for none. */
export function overwriteOf(draft: OverwriteDraft, saved: Saved, id: string): Overwrite | null {
  const changed = draft[id];
  return changed === undefined ? savedOverwrite(saved, id) : changed;
}

/** A draft with the overwrite of a role or member; null removes it. */
export function withOverwrite(
  draft: OverwriteDraft,
  id: string,
  overwrite: Overwrite | null,
): OverwriteDraft {
  return { ...draft, [id]: overwrite };
}

/** The targets whose overwrite differs from the saved one. One that neither allows nor denies is as good as none. */
export function changedIds(draft: OverwriteDraft, saved: Saved): string[] {
  return Object.keys(draft).filter((id) => {
    const before = savedOverwrite(saved, id);
    const after = overwriteOf(draft, saved, id);
    return !isSame(before, after) && !(before === null && isSame(after, NONE));
  });
}

/** All overwrites of a channel with the changes, as the API takes them. */
export function mergedOverwrites(
  draft: OverwriteDraft,
  saved: Saved,
  isRole: (id: string) => boolean,
): { id: string; type: 0 | 1; allow: string; deny: string }[] {
  const changed = new Set(changedIds(draft, saved));
  const kept = saved
    .filter(({ id }) => !changed.has(id))
    .map(({ id, allow, deny }) => ({ id, type: typeOf(saved, id, isRole), allow, deny }));
  const others = [...changed].flatMap((id) => {
    const overwrite = overwriteOf(draft, saved, id);
    return overwrite === null
      ? []
      : [
          {
            id,
            type: typeOf(saved, id, isRole),
            allow: String(overwrite.allow),
            deny: String(overwrite.deny),
          },
        ];
  });
  return [...kept, ...others];
}

/** What somebody needs to enter a channel of a type. */
export function entryPermissions(type: ChannelType): bigint {
  const isVoice = type === ChannelType.GuildVoice || type === ChannelType.GuildStageVoice;
  return isVoice ? Permission.ViewChannel | Permission.Connect : Permission.ViewChannel;
}

/** Whether a channel is for those alone who are let in: @everyone may not view it. */
export function isPrivate(draft: OverwriteDraft, saved: Saved, guildId: string): boolean {
  return ((overwriteOf(draft, saved, guildId)?.deny ?? 0n) & Permission.ViewChannel) !== 0n;
}

/** Make a channel private or public for @everyone. Who was let in stays so. */
export function withPrivacy(
  draft: OverwriteDraft,
  saved: Saved,
  guildId: string,
  entry: bigint,
  on: boolean,
): OverwriteDraft {
  const { allow, deny } = overwriteOf(draft, saved, guildId) ?? NONE;
  return withOverwrite(
    draft,
    guildId,
    on ? { allow: allow & ~entry, deny: deny | entry } : { allow, deny: deny & ~entry },
  );
}

/** The roles and members that are let in. */
export function entrantIds(draft: OverwriteDraft, saved: Saved, guildId: string): string[] {
  const ids = new Set([...saved.map(({ id }) => id), ...Object.keys(draft)]);
  return [...ids].filter(
    (id) => id !== guildId && ((overwriteOf(draft, saved, id)?.allow ?? 0n) & Permission.ViewChannel) !== 0n,
  );
}

/** Let these roles and members in, and no others. What else their overwrites say stays. */
export function withEntrants(
  draft: OverwriteDraft,
  saved: Saved,
  guildId: string,
  entry: bigint,
  ids: readonly string[],
): OverwriteDraft {
  let next = draft;
  for (const id of new Set([...entrantIds(draft, saved, guildId), ...ids])) {
    const { allow, deny } = overwriteOf(draft, saved, id) ?? NONE;
    const overwrite = ids.includes(id)
      ? { allow: allow | entry, deny: deny & ~entry }
      : { allow: allow & ~entry, deny };
    next = withOverwrite(next, id, isSame(overwrite, NONE) ? null : overwrite);
  }
  return next;
}
