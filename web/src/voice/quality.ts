/** How well sound gets through. */
export interface Quality {
  /** In milliseconds; null where the browser does not tell. */
  roundTripMs: number | null;
  /** The share of packets that were lost on the way here, from 0 to 1. */
  loss: number;
}

export type QualityGrade = "good" | "fair" | "poor";

/** What was counted until the last reading. */
export interface QualityCounters {
  received: number;
  lost: number;
}

const GOOD = { roundTripMs: 150, loss: 0.02 };
const FAIR = { roundTripMs: 400, loss: 0.08 };

/** The grade of a quality, by the worse of its figures. */
export function gradeOf({ roundTripMs, loss }: Quality): QualityGrade {
  const within = (limits: typeof GOOD) => (roundTripMs ?? 0) <= limits.roundTripMs && loss <= limits.loss;
  return within(GOOD) ? "good" : within(FAIR) ? "fair" : "poor";
}

/** The quality since earlier counters, from a report of `getStats`, and the counters now. */
export function readQuality(
  stats: readonly Record<string, unknown>[],
  before: QualityCounters | null,
): [Quality | null, QualityCounters] {
  const counters = { received: 0, lost: 0 };
  let roundTripMs: number | null = null;
  let isConnected = false;
  for (const each of stats) {
    if (each["type"] === "inbound-rtp") {
      counters.received += numberOf(each["packetsReceived"]);
      counters.lost += numberOf(each["packetsLost"]);
    } else if (
      each["type"] === "candidate-pair" &&
      each["state"] === "succeeded" &&
      each["nominated"] === true
    ) {
      isConnected = true;
      const seconds = each["currentRoundTripTime"];
      roundTripMs = typeof seconds === "number" ? Math.round(seconds * 1000) : roundTripMs;
    }
  }
  if (!isConnected) {
    return [null, counters];
  }
  // Both count down when a user's sound ends.
  const received = Math.max(0, counters.received - (before?.received ?? 0));
  const lost = Math.max(0, counters.lost - (before?.lost ?? 0));
  return [{ roundTripMs, loss: received + lost === 0 ? 0 : lost / (received + lost) }, counters];
}

function numberOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
