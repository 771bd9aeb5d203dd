import { useEffect, useState } from "react";

/** So long the first new message is shown before the bar about it stays away. */
const SEEN_MS = 400;

/** Whether the first message after an id has been in view for a moment, and what says that it was. */
export function useSeen(sinceId: string | null, isInView: boolean): [boolean, () => void] {
  const [seenSinceId, setSeenSinceId] = useState<string | null>(null);
  useEffect(() => {
    // Not before the list has been scrolled to where it begins.
    const timer = isInView ? setTimeout(() => setSeenSinceId(sinceId), SEEN_MS) : undefined;
    return () => clearTimeout(timer);
  }, [isInView, sinceId]);
  return [seenSinceId === sinceId, () => setSeenSinceId(sinceId)];
}
