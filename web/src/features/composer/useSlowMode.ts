import type { APIChannel } from "discord-api-types/v10";
import { useEffect, useState } from "react";

import { useAppState } from "../session/session";
import { lastWrittenAt, NEVER, slowModeOf } from "./slowMode";

export interface SlowMode {
  /** Between two messages; 0 if the user need not wait. */
  seconds: number;
  /** Until the next message may be sent. */
  left: number;
}

/** How long the user waits between messages in a channel, counted down. */
export function useSlowMode(channel: APIChannel): SlowMode {
  const seconds = useAppState((state) => slowModeOf(state, channel));
  const writtenAt = useAppState((state) => (seconds === 0 ? NEVER : lastWrittenAt(state, channel.id)));
  const until = seconds === 0 || writtenAt === NEVER ? NEVER : writtenAt + seconds * 1000;
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (until <= Date.now()) {
      return undefined;
    }
    const timer = setInterval(() => {
      setNow(Date.now());
      if (until <= Date.now()) {
        clearInterval(timer);
      }
    }, 250);
    return () => clearInterval(timer);
  }, [until]);
  // A message that has just been sent is newer than the last tick.
  const left = Math.ceil((until - Math.max(now, writtenAt)) / 1000);
  return { seconds, left: Math.max(0, left) };
}
