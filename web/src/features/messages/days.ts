import { idAtTime } from "../../ui/times";

/** A moment's day in the time zone of the device, as a date field has it: 2026-01-31. */
export function dayOf(time: number): string {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${String(date.getFullYear()).padStart(4, "0")}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The last id before a day begins in the time zone of the device; null for a text that is no date. */
export function idBeforeDay(day: string): string | null {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  const start = new Date(year, month - 1, date);
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day) || start.getMonth() !== month - 1) {
    return null;
  }
  const first = BigInt(idAtTime(start.getTime()));
  return String(first === 0n ? 0n : first - 1n);
}
