import { MessageFlag } from "../../api/enums";
import { timeOfId } from "../../ui/times";

/** The API deletes at most so many messages at once, and none that are older. */
export const MAX_SELECTED = 100;
const MAX_AGE_MS = 14 * 86_400_000;

/** Whether a message can join a selection of a size, to be deleted with it. `now` is in milliseconds. */
export function canSelect(
  message: { id: string; flags?: number | undefined },
  size: number,
  now: number,
): boolean {
  const isStored = ((message.flags ?? 0) & MessageFlag.Ephemeral) === 0;
  return isStored && size < MAX_SELECTED && now - timeOfId(message.id) < MAX_AGE_MS;
}

/** A selection with a message added, or without it if it was in there. */
export function toggled(selected: ReadonlySet<string>, messageId: string): ReadonlySet<string> {
  const next = new Set(selected);
  if (!next.delete(messageId)) {
    next.add(messageId);
  }
  return next;
}
