import type { APIChannel, APIGuildMember, APIRole } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { Permission } from "../api/enums";
import { ALL_PERMISSIONS, channelPermissions, guildPermissions, has } from "./permissions";
import { INITIAL_STATE, type GuildState, type State } from "./state";

const ROLE = 0;
const MEMBER = 1;

function stateWith(
  roles: Record<string, bigint>,
  overwrites: [id: string, type: number, allow: bigint, deny: bigint][],
) {
  const guild = {
    id: "10",
    ownerId: "1",
    roles: Object.fromEntries(
      Object.entries(roles).map(([id, bits]) => [id, { id, permissions: String(bits) } as APIRole]),
    ),
  } as unknown as GuildState;
  const channel = {
    id: "20",
    type: 0,
    guild_id: "10",
    permission_overwrites: overwrites.map(([id, type, allow, deny]) => ({
      id,
      type,
      allow: String(allow),
      deny: String(deny),
    })),
  } as unknown as APIChannel;
  const member = { roles: Object.keys(roles).filter((id) => id !== "10") } as APIGuildMember;
  const state: State = {
    ...INITIAL_STATE,
    guilds: { "10": guild },
    channels: { "20": channel },
    members: { "10": { "1": member, "2": member } },
  };
  return { state, channel };
}

describe("permissions", () => {
  const view = Permission.ViewChannel;
  const send = Permission.SendMessages;

  it("are all for the owner and for administrators", () => {
    const { state, channel } = stateWith({ "10": 0n, "11": Permission.Administrator }, [
      ["10", ROLE, 0n, view],
    ]);
    expect(guildPermissions(state, "10", "1")).toBe(ALL_PERMISSIONS);
    expect(channelPermissions(state, channel, "2")).toBe(ALL_PERMISSIONS);
  });

  it("are none for users who are no members", () => {
    const { state } = stateWith({ "10": view }, []);
    expect(guildPermissions(state, "10", "3")).toBe(0n);
  });

  it("follow overwrites: everyone, then roles together, then the member", () => {
    const { state, channel } = stateWith({ "10": view | send, "11": 0n, "12": 0n }, [
      ["10", ROLE, 0n, view | send],
      ["11", ROLE, 0n, send],
      ["12", ROLE, view | send, 0n],
      ["2", MEMBER, 0n, send],
    ]);
    const permissions = channelPermissions(state, channel, "2");
    expect(has(permissions, view)).toBe(true);
    expect(has(permissions, send)).toBe(false);
  });

  it("of a thread are those of its parent", () => {
    const { state } = stateWith({ "10": view | send }, [["10", ROLE, 0n, send]]);
    const thread = { id: "30", type: 11, guild_id: "10", parent_id: "20" } as unknown as APIChannel;
    expect(channelPermissions(state, thread, "2")).toBe(view);
  });

  it("of a preview are those of its roles alone, for the owner as well", () => {
    const { state, channel } = stateWith({ "10": view, "11": send, "12": Permission.KickMembers }, [
      ["1", MEMBER, Permission.ManageMessages, 0n],
    ]);
    const user = { id: "1" } as State["user"];
    const preview: State = { ...state, user, rolePreview: { guildId: "10", roleIds: ["11"] } };
    expect(guildPermissions(preview, "10", "1")).toBe(view | send);
    expect(channelPermissions(preview, channel, "1")).toBe(view | send);
    expect(guildPermissions(preview, "10", "2")).toBe(view | send | Permission.KickMembers);
  });
});
