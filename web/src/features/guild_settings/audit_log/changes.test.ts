import type { APIAuditLogEntry } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { Permission } from "../../../api/enums";
import { readableChanges, targetName, type AuditNames, type AuditWords } from "./changes";

const CHANNEL = "100000000000000001";
const names: AuditNames = {
  channel: (id) => (id === CHANNEL ? "#general" : null),
  role: () => null,
  other: () => null,
};
const words: AuditWords = { yes: "yes", no: "no", none: "none", permission: (name) => name };

function entry(changes: unknown[], targetId: string | null = null): APIAuditLogEntry {
  return {
    id: "1",
    action_type: 1,
    user_id: "2",
    target_id: targetId,
    changes,
  } as unknown as APIAuditLogEntry;
}

function only(change: unknown) {
  return readableChanges(entry([change]), names, words)[0];
}

describe("readable changes", () => {
  it("name channels, and say what is empty", () => {
    expect(only({ key: "afk_channel_id", old_value: null, new_value: CHANNEL })).toEqual({
      key: "afk_channel_id",
      before: "none",
      after: "#general",
    });
  });

  it("list the permissions that were taken and given, not those that stayed", () => {
    const before = Permission.SendMessages | Permission.BanMembers;
    const after = Permission.SendMessages | Permission.KickMembers;
    expect(only({ key: "permissions", old_value: String(before), new_value: String(after) })).toEqual({
      key: "permissions",
      before: "BanMembers",
      after: "KickMembers",
    });
  });

  it("name the roles that a member got", () => {
    const change = only({ key: "$add", new_value: [{ id: "1", name: "Moderators" }] });
    expect(change).toEqual({ key: "$add", before: null, after: "Moderators" });
  });

  it("hide hashes of images", () => {
    expect(only({ key: "icon_hash", old_value: "aa", new_value: "bb" })).toEqual({
      key: "icon_hash",
      before: null,
      after: null,
    });
  });
});

describe("the target of an entry", () => {
  it("has its present name, else the one in the entry, else its id", () => {
    expect(targetName(entry([], CHANNEL), names)).toBe("#general");
    expect(targetName(entry([{ key: "name", old_value: "old-channel" }], "5"), names)).toBe("old-channel");
    expect(targetName(entry([], "5"), names)).toBe("5");
  });
});
