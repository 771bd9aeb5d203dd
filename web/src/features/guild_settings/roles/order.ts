/** A list after moving some of its elements before or after another. */
export function reordered(
  ids: readonly string[],
  moving: readonly string[],
  target: string,
  after: boolean,
): string[] {
  const others = ids.filter((id) => !moving.includes(id));
  const index = others.indexOf(target);
  const at = index === -1 ? others.length : index + (after ? 1 : 0);
  const kept = ids.filter((id) => moving.includes(id));
  return [...others.slice(0, at), ...kept, ...others.slice(at)];
}

/** Positions without gaps for every role but @everyone, listed from the highest. */
export function rolePositions(ids: readonly string[]): { id: string; position: number }[] {
  return ids.map((id, index) => ({ id, position: ids.length - index }));
}
