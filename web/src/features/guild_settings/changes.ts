/** A copy of a list with one element changed. */
export function withElement<T>(list: readonly T[], index: number, element: T): T[] {
  return list.map((each, position) => (position === index ? element : each));
}

export function withoutElement<T>(list: readonly T[], index: number): T[] {
  return list.filter((_each, position) => position !== index);
}

/** A copy of a list with the element at `from` moved to `to`, as far as the list reaches. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const copy = [...list];
  const [element] = copy.splice(from, 1);
  if (element !== undefined) {
    copy.splice(Math.max(0, Math.min(copy.length, to)), 0, element);
  }
  return copy;
}
