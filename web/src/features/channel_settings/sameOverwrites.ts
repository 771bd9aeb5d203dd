import type { APIOverwrite } from "discord-api-types/v10";

/** Whether two channels give the same permissions; overwrites that change nothing do not count. */
export function sameOverwrites(a: readonly APIOverwrite[], b: readonly APIOverwrite[]): boolean {
  const left = effective(a);
  const right = effective(b);
  return left.size === right.size && [...left].every(([id, sets]) => right.get(id) === sets);
}

function effective(overwrites: readonly APIOverwrite[]): Map<string, string> {
  return new Map(
    overwrites
      .filter((each) => BigInt(each.allow) !== 0n || BigInt(each.deny) !== 0n)
      .map((each) => [each.id, `${each.allow} ${each.deny}`]),
  );
}
