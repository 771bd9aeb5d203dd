import type { APIChannel } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { ChannelType, Permission } from "../api/enums";
import { signsOf } from "./channelSigns";

const EVERYONE = String(Permission.ViewChannel | Permission.Connect);

function channel(changes: object): APIChannel {
  return { id: "2", guild_id: "1", type: ChannelType.GuildText, name: "x", ...changes } as APIChannel;
}

function deny(id: string, permissions: bigint): object {
  return { permission_overwrites: [{ id, type: 0, allow: "0", deny: String(permissions) }] };
}

describe("signs of channels", () => {
  it("tell what everybody may view from what is private", () => {
    const isPrivate = (changes: object, everyone = EVERYONE) => signsOf(channel(changes), everyone).isPrivate;
    expect(isPrivate({})).toBe(false);
    expect(isPrivate(deny("1", Permission.ViewChannel))).toBe(true);
    expect(isPrivate(deny("9", Permission.ViewChannel))).toBe(false);
    expect(isPrivate({}, "0")).toBe(true);
    const open = { permission_overwrites: [{ id: "1", type: 0, allow: EVERYONE, deny: "0" }] };
    expect(isPrivate(open, "0")).toBe(false);
    expect(isPrivate(deny("1", Permission.ViewChannel), String(Permission.Administrator))).toBe(false);
  });

  it("show which voice channels need a role to connect to", () => {
    expect(
      signsOf(channel({ type: ChannelType.GuildVoice, ...deny("1", Permission.Connect) }), EVERYONE),
    ).toEqual({ isPrivate: true, isAgeRestricted: false });
    expect(signsOf(channel(deny("1", Permission.Connect)), EVERYONE).isPrivate).toBe(false);
  });

  it("show private threads, and channels for adults alone", () => {
    expect(signsOf(channel({ type: ChannelType.PrivateThread }), EVERYONE).isPrivate).toBe(true);
    expect(signsOf(channel({ type: ChannelType.PublicThread }), "0").isPrivate).toBe(false);
    expect(signsOf(channel({ nsfw: true }), EVERYONE)).toEqual({ isPrivate: false, isAgeRestricted: true });
    expect(signsOf(channel({ type: ChannelType.DM }), null)).toEqual({
      isPrivate: false,
      isAgeRestricted: false,
    });
  });
});
