import { describe, expect, it } from "vitest";

import type { Harvest } from "../../api/settings";
import { archiveState, nextRequest } from "./archive";

const NOW = Date.parse("2026-03-17T12:00:00Z");
const harvest = (status: number, createdAt: string, url: string | null = null): Harvest => ({
  status,
  created_at: createdAt,
  completed_at: null,
  size: 0,
  download_url: url,
});

describe("the archive of the user's data", () => {
  it("is being collected, ready, failed, or no longer there", () => {
    expect(archiveState(null)).toBe("none");
    expect(archiveState(harvest(0, "2026-03-17T11:00:00Z"))).toBe("collecting");
    expect(archiveState(harvest(1, "2026-03-17T11:00:00Z"))).toBe("collecting");
    expect(archiveState(harvest(2, "2026-03-17T11:00:00Z"))).toBe("failed");
    expect(archiveState(harvest(3, "2026-03-17T11:00:00Z", "/archive"))).toBe("ready");
    expect(archiveState(harvest(3, "2026-03-01T11:00:00Z"))).toBe("gone");
  });

  it("can be requested once a day, and again at once if it failed", () => {
    expect(nextRequest(null, NOW)).toBeNull();
    expect(nextRequest(harvest(3, "2026-03-17T11:00:00Z"), NOW)).toBe(Date.parse("2026-03-18T11:00:00Z"));
    expect(nextRequest(harvest(3, "2026-03-16T11:00:00Z"), NOW)).toBeNull();
    expect(nextRequest(harvest(2, "2026-03-17T11:00:00Z"), NOW)).toBeNull();
  });
});
