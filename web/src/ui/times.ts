import type { IntlShape } from "react-intl";

const EPOCH_MS = 1_420_070_400_000;
const UNITS = [
  ["year", 31_536_000_000],
  ["month", 2_592_000_000],
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
] as const;

/** A moment to the second, with its day. */
export const FULL_TIME = { dateStyle: "long", timeStyle: "medium" } as const;

/** When an id was made, in milliseconds since the epoch. */
export function timeOfId(id: string): number {
  return Number(BigInt(id) >> 22n) + EPOCH_MS;
}

/** The first id of a moment, in milliseconds since the epoch. */
export function idAtTime(time: number): string {
  return (BigInt(Math.max(0, time - EPOCH_MS)) << 22n).toString();
}

/** How long ago a moment is, or how far ahead, in the largest unit that is over. */
export function relativeTime(intl: IntlShape, time: number, now: number): string {
  const distance = time - now;
  const [unit, length] = UNITS.find(([, each]) => Math.abs(distance) >= each) ?? ["minute", 60_000];
  return intl.formatRelativeTime(Math.round(distance / length), unit, { numeric: "auto" });
}

/** A number of seconds as a clock shows it, such as 0:09 or 1:05:00. */
export function clockOf(seconds: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
