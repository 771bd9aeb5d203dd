import { expect, test } from "vitest";

import type { ServerSetting } from "../../api/admin";
import { doneSteps, STEPS } from "./steps";

function setting(name: string, changedAt: string | null): ServerSetting {
  return { name, value: "", configured: "", changed_at: changedAt, changed_by: null };
}

test("a step is done once one of its settings is set, and not by what is configured", () => {
  const settings = [setting("instance_icon", "2026-01-01"), setting("smtp_host", null)];
  expect(doneSteps(settings, { hasFactor: false, hasGuild: false })).toEqual(new Set(["instance"]));
});

test("the second factor and the first server are steps of their own", () => {
  expect(doneSteps([], { hasFactor: true, hasGuild: true })).toEqual(new Set(["factor", "guild"]));
  expect(new Set(STEPS.map(({ id }) => id)).size).toBe(STEPS.length);
});
