import type { APIChannel } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { ChannelType } from "../../api/enums";
import { changedFields, hasField } from "./fields";

describe("the settings of a channel", () => {
  it("depend on its type", () => {
    expect(hasField(ChannelType.GuildVoice, "bitrate")).toBe(true);
    expect(hasField(ChannelType.GuildText, "bitrate")).toBe(false);
    expect(hasField(ChannelType.GuildForum, "default_forum_layout")).toBe(true);
    expect(hasField(ChannelType.GuildMedia, "default_forum_layout")).toBe(false);
    expect(hasField(ChannelType.GuildCategory, "topic")).toBe(false);
  });

  it("are sent only where they change", () => {
    const channel = { id: "1", name: "tea", topic: null, available_tags: [{ id: "5", name: "a" }] };
    const draft = { name: "tea", topic: "leaves", available_tags: [{ id: "5", name: "a" }] as never };
    expect(changedFields(channel as unknown as APIChannel, draft)).toEqual({ topic: "leaves" });
    expect(changedFields(channel as unknown as APIChannel, { topic: null })).toEqual({});
  });
});
