import { OverwriteType, type APIOverwrite } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { ChannelType, Permission } from "../../api/enums";
import {
  changedIds,
  entrantIds,
  entryPermissions,
  isPrivate,
  mergedOverwrites,
  overwriteOf,
  withEntrants,
  withOverwrite,
  withPrivacy,
  type OverwriteDraft,
} from "./overwriteDraft";

const GUILD = "1";
const VIEW = Permission.ViewChannel;
const SEND = Permission.SendMessages;
const isRole = (id: string) => Number(id) < 10;

function saved(...overwrites: [id: string, allow: bigint, deny: bigint][]): APIOverwrite[] {
  return overwrites.map(([id, allow, deny]) => ({
    id,
    type: isRole(id) ? OverwriteType.Role : OverwriteType.Member,
    allow: String(allow),
    deny: String(deny),
  }));
}

describe("the draft of a channel's overwrites", () => {
  it("has the changes of all targets at once", () => {
    const before = saved(["2", SEND, 0n]);
    let draft: OverwriteDraft = withOverwrite({}, GUILD, { allow: 0n, deny: VIEW });
    draft = withOverwrite(draft, "3", { allow: VIEW, deny: 0n });
    draft = withOverwrite(draft, "20", { allow: VIEW, deny: 0n });
    expect(changedIds(draft, before)).toEqual([GUILD, "3", "20"]);
    expect(mergedOverwrites(draft, before, isRole)).toEqual([
      { id: "2", type: 0, allow: String(SEND), deny: "0" },
      { id: GUILD, type: 0, allow: "0", deny: String(VIEW) },
      { id: "3", type: 0, allow: String(VIEW), deny: "0" },
      { id: "20", type: 1, allow: String(VIEW), deny: "0" },
    ]);
  });

  it("knows what is as before, and keeps what others change meanwhile", () => {
    const before = saved(["2", SEND, 0n]);
    const draft = withOverwrite({}, "2", { allow: 0n, deny: SEND });
    expect(changedIds(withOverwrite(draft, "2", { allow: SEND, deny: 0n }), before)).toEqual([]);
    expect(changedIds(withOverwrite({}, "5", { allow: 0n, deny: 0n }), before)).toEqual([]);
    expect(changedIds(withOverwrite({}, "5", null), before)).toEqual([]);
    const later = saved(["2", SEND, 0n], ["4", VIEW, 0n]);
    expect(mergedOverwrites(draft, later, isRole).map(({ id }) => id)).toEqual(["4", "2"]);
    expect(mergedOverwrites(withOverwrite(draft, "2", null), later, isRole).map(({ id }) => id)).toEqual([
      "4",
    ]);
    // Once what was saved arrives, nothing is changed any more.
    expect(changedIds(draft, saved(["2", 0n, SEND]))).toEqual([]);
  });

  it("makes a channel private for those who are let in, and leaves their other permissions", () => {
    const before = saved([GUILD, SEND, 0n], ["2", SEND, VIEW], ["20", VIEW | SEND, 0n]);
    let draft = withPrivacy({}, before, GUILD, VIEW, true);
    expect(isPrivate(draft, before, GUILD)).toBe(true);
    expect(overwriteOf(draft, before, GUILD)).toEqual({ allow: SEND, deny: VIEW });
    expect(entrantIds(draft, before, GUILD)).toEqual(["20"]);
    draft = withEntrants(draft, before, GUILD, VIEW, ["2", "21"]);
    expect(entrantIds(draft, before, GUILD)).toEqual(["2", "21"]);
    expect(overwriteOf(draft, before, "2")).toEqual({ allow: SEND | VIEW, deny: 0n });
    expect(overwriteOf(draft, before, "20")).toEqual({ allow: SEND, deny: 0n });
    draft = withEntrants(draft, before, GUILD, VIEW, ["2"]);
    expect(overwriteOf(draft, before, "21")).toBeNull();
    expect(isPrivate(withPrivacy(draft, before, GUILD, VIEW, false), before, GUILD)).toBe(false);
  });

  it("closes voice channels for joining too", () => {
    expect(entryPermissions(ChannelType.GuildVoice)).toBe(VIEW | Permission.Connect);
    expect(entryPermissions(ChannelType.GuildText)).toBe(VIEW);
  });
});
