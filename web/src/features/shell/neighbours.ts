/** The next or previous of some ids, around the end; the first for an unknown one; null for none. */
export function neighbour(ids: readonly string[], current: string | null, by: 1 | -1): string | null {
  if (ids.length === 0) {
    return null;
  }
  const index = current === null ? -1 : ids.indexOf(current);
  const next = index < 0 ? (by === 1 ? 0 : ids.length - 1) : (index + by + ids.length) % ids.length;
  return ids[next] ?? null;
}

/** The next or previous of the ids that are in a set, seen from a current one that may not be. */
export function neighbourIn(
  ids: readonly string[],
  current: string | null,
  by: 1 | -1,
  includes: (id: string) => boolean,
): string | null {
  const start = current === null ? -1 : ids.indexOf(current);
  for (let step = 1; step <= ids.length; step += 1) {
    const index =
      ((((start < 0 && by === -1 ? 0 : start) + by * step) % ids.length) + ids.length) % ids.length;
    const id = ids[index];
    if (id !== undefined && id !== current && includes(id)) {
      return id;
    }
  }
  return null;
}
