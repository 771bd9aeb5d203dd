import type { APIGuildScheduledEvent } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { Permission } from "../../api/enums";
import { INITIAL_STATE, type State } from "../../store/state";
import { eventChannels, mayCreateEvents, mayManageEvent } from "./rules";

function stateWith(permissions: bigint): State {
  return {
    ...INITIAL_STATE,
    user: { id: "1" },
    guilds: { "10": { id: "10", ownerId: "9", roles: { "10": { permissions: String(permissions) } } } },
    members: { "10": { "1": { roles: [] } } },
    channels: {
      "12": { id: "12", guild_id: "10", type: 13, position: 2 },
      "11": { id: "11", guild_id: "10", type: 2, position: 1 },
      "13": { id: "13", guild_id: "10", type: 0, position: 0 },
    },
  } as unknown as State;
}

const event = (creatorId: string, channelId: string | null) =>
  ({ guild_id: "10", creator_id: creatorId, channel_id: channelId }) as APIGuildScheduledEvent;
const MEMBER = Permission.ViewChannel | Permission.Connect;

describe("events", () => {
  it("are created in voice channels, and in stages by their moderators", () => {
    const ids = (permissions: bigint) => eventChannels(stateWith(permissions), "10").map(({ id }) => id);
    const moderator = Permission.ManageChannels | Permission.MuteMembers | Permission.MoveMembers;
    expect(ids(MEMBER)).toEqual([]);
    expect(ids(MEMBER | Permission.CreateEvents)).toEqual(["11"]);
    expect(ids(MEMBER | Permission.CreateEvents | moderator)).toEqual(["11", "12"]);
    expect(mayCreateEvents(stateWith(MEMBER), "10")).toBe(false);
    expect(mayCreateEvents(stateWith(Permission.CreateEvents), "10")).toBe(true);
  });

  it("are managed by their creator, and by those who manage all of them", () => {
    const creator = stateWith(MEMBER | Permission.CreateEvents);
    expect(mayManageEvent(creator, event("1", "11"))).toBe(true);
    expect(mayManageEvent(creator, event("2", "11"))).toBe(false);
    const manager = stateWith(MEMBER | Permission.ManageEvents);
    expect(mayManageEvent(manager, event("2", "11"))).toBe(true);
    expect(mayManageEvent(manager, event("2", null))).toBe(true);
    expect(mayManageEvent(manager, event("2", "12"))).toBe(false);
  });
});
