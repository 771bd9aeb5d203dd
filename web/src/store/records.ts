/** Copies of records and lists with one change; the original stays as it is. */

export type ReadonlyRecord<T> = Readonly<Record<string, T>>;

export function withEntry<T>(record: ReadonlyRecord<T>, key: string, value: T): ReadonlyRecord<T> {
  return { ...record, [key]: value };
}

export function withoutEntry<T>(record: ReadonlyRecord<T>, key: string): ReadonlyRecord<T> {
  if (!(key in record)) {
    return record;
  }
  const { [key]: _removed, ...rest } = record;
  return rest;
}

/** Change one entry; a record without it stays as it is. */
export function updateEntry<T>(
  record: ReadonlyRecord<T>,
  key: string,
  update: (value: T) => T,
): ReadonlyRecord<T> {
  const value = record[key];
  if (value === undefined) {
    return record;
  }
  const updated = update(value);
  return updated === value ? record : { ...record, [key]: updated };
}

export function keyBy<T>(values: Iterable<T>, key: (value: T) => string): Record<string, T> {
  const record: Record<string, T> = {};
  for (const value of values) {
    record[key(value)] = value;
  }
  return record;
}

/** Entries whose values satisfy a predicate. */
export function filterEntries<T>(
  record: ReadonlyRecord<T>,
  keep: (value: T, key: string) => boolean,
): ReadonlyRecord<T> {
  return Object.fromEntries(Object.entries(record).filter(([key, value]) => keep(value, key)));
}

/** Change every value; the same record if all stay as they are. */
export function mapValues<T>(record: ReadonlyRecord<T>, update: (value: T) => T): ReadonlyRecord<T> {
  const entries = Object.entries(record).map(([key, value]) => [key, update(value)] as const);
  return entries.some(([key, value]) => value !== record[key]) ? Object.fromEntries(entries) : record;
}

/** Snowflakes compare as numbers; those of different length by their length. */
export function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
