import type { IntlShape } from "react-intl";

/** The day and time of a date, with its end if it has one; the year only if it is another than the current one. */
export function dayAndTime(intl: IntlShape, start: number, end: number | null): string {
  const isThisYear = new Date(start).getFullYear() === new Date().getFullYear();
  const options: Intl.DateTimeFormatOptions = {
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "numeric",
    minute: "numeric",
    ...(!isThisYear && { year: "numeric" }),
  };
  return end === null ? intl.formatDate(start, options) : intl.formatDateTimeRange(start, end, options);
}
