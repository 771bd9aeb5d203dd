import type { Status } from "../../gateway/protocol";
import type { MessageId } from "../../i18n/messages";

/** The statuses that a user can choose, with their texts. */
export const STATUSES: readonly [Status, MessageId][] = [
  ["online", "settings.status.online"],
  ["idle", "settings.status.idle"],
  ["dnd", "settings.status.dnd"],
  ["invisible", "settings.status.invisible"],
];
