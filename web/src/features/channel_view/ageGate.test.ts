import type { APIChannel } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { ChannelType } from "../../api/enums";
import { INITIAL_STATE } from "../../store/state";
import { isAgeRestricted } from "./ageGate";

describe("isAgeRestricted", () => {
  const channel = (fields: object) => ({ id: "9", type: ChannelType.GuildText, ...fields }) as APIChannel;

  it("is the channel's own mark, and for a thread that of its channel", () => {
    const parent = channel({ nsfw: true });
    const thread = channel({ id: "10", type: ChannelType.PublicThread, parent_id: "9" });
    expect(isAgeRestricted(INITIAL_STATE, parent)).toBe(true);
    expect(isAgeRestricted(INITIAL_STATE, channel({ nsfw: false }))).toBe(false);
    expect(isAgeRestricted({ ...INITIAL_STATE, channels: { "9": parent } }, thread)).toBe(true);
    expect(isAgeRestricted(INITIAL_STATE, thread)).toBe(false);
  });
});
