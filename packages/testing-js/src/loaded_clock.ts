/** The clock of this process, which `@moothall/testing/clock` sets where it is loaded. */

/** What `Moothall.advance` moves; several copies of this module share it. */
export interface Clock {
  /** Sets how far the clock is ahead, in seconds. */
  reset(seconds: number): void;
  /** Seconds until the next timer; undefined if there is none. */
  untilNextTimer(): number | undefined;
  /** Moves the clock; returns once what was due has been done, and what follows from it at once. */
  move(seconds: number): Promise<void>;
}

const KEY = Symbol.for("moothall.clock");
const shared = globalThis as unknown as Record<symbol, Clock | undefined>;

export function loadedClock(): Clock | undefined {
  return shared[KEY];
}

export function setLoadedClock(clock: Clock): void {
  shared[KEY] = clock;
}
