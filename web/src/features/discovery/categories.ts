/** The ids of the categories, whose names are texts. */
export const CATEGORIES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13] as const;
export type Category = (typeof CATEGORIES)[number];

/** A category by its id; what has none of ours is general. */
export function categoryOf(id: number): Category {
  return CATEGORIES.find((each) => each === id) ?? 0;
}
