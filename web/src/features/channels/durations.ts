import { useIntl } from "react-intl";

/** Minutes without a message after which a thread is archived. */
export const AUTO_ARCHIVE_MINUTES = [60, 1440, 4320, 10080] as const;
/** Seconds that a member waits between messages. */
export const SLOW_MODE_SECONDS = [0, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600] as const;

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
] as const;

/** A function that writes a duration in the largest unit that it is a whole number of. */
export function useDuration(): (seconds: number) => string {
  const intl = useIntl();
  return (seconds) => {
    const [unit, length] = UNITS.find(([, each]) => seconds % each === 0 && seconds >= each) ?? ["second", 1];
    return intl.formatNumber(seconds / length, { style: "unit", unit, unitDisplay: "long" });
  };
}
