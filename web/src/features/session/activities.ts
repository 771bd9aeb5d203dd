import type { Activity } from "../../gateway/protocol";
import type { CustomStatus } from "../../store/userSettings";

const CUSTOM = 4;

/** The activity that shows a custom status; none for one that has ended. `now` is in milliseconds. */
export function customActivities(status: CustomStatus | null, now: number): Activity[] {
  if (status === null || (status.expires_at !== null && Date.parse(status.expires_at) <= now)) {
    return [];
  }
  const emoji =
    status.emoji_name === null
      ? undefined
      : { name: status.emoji_name, ...(status.emoji_id !== null && { id: status.emoji_id }) };
  return [
    {
      name: "Custom Status",
      type: CUSTOM,
      ...(status.text !== null && { state: status.text }),
      ...(emoji && { emoji }),
    },
  ];
}
