import { useState } from "react";
import { useIntl } from "react-intl";

export interface Formats {
  /** The date of an ISO 8601 moment. */
  day: (moment: string) => string;
  /** Its date and time. */
  moment: (moment: string) => string;
  /** Whether a moment lies ahead of when the screen was opened; false for none. */
  isFuture: (moment: string) => boolean;
}

/** Moments in the user's language. */
export function useFormats(): Formats {
  const intl = useIntl();
  const [now] = useState(() => Date.now());
  return {
    day: (moment) => intl.formatDate(moment, { dateStyle: "medium" }),
    moment: (moment) => intl.formatDate(moment, { dateStyle: "medium", timeStyle: "short" }),
    isFuture: (moment) => Date.parse(moment) > now,
  };
}
