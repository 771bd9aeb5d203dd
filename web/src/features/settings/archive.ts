import type { Harvest } from "../../api/settings";

const QUEUED = 0;
const RUNNING = 1;
const FAILED = 2;
const DAY_MS = 86_400_000;

export type ArchiveState = "none" | "collecting" | "failed" | "ready" | "gone";

/** How far the archive of the user's data is; null for one that was never requested. */
export function archiveState(harvest: Harvest | null): ArchiveState {
  if (harvest === null) {
    return "none";
  }
  if (harvest.status === QUEUED || harvest.status === RUNNING) {
    return "collecting";
  }
  if (harvest.status === FAILED) {
    return "failed";
  }
  return harvest.download_url === null ? "gone" : "ready";
}

/** When an archive can be requested again, in milliseconds; null for now. There is one a day. */
export function nextRequest(harvest: Harvest | null, now: number): number | null {
  if (harvest === null || archiveState(harvest) === "failed") {
    return null;
  }
  const next = Date.parse(harvest.created_at) + DAY_MS;
  return next > now ? next : null;
}
