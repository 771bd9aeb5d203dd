import type { APIChannel, APIStickerPack } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { Permission } from "../../api/enums";
import { INITIAL_STATE, type State } from "../../store/state";
import { stickerGroups } from "./stickers";

const sticker = (id: string, name: string, available = true) => ({
  id,
  name,
  tags: "cup",
  description: null,
  available,
});

function stateWith(permissions: bigint): State {
  const guild = (id: string, name: string, joinedAt: string, stickers: unknown[]) => ({
    id,
    name,
    joinedAt,
    ownerId: "9",
    roles: { [id]: { id, permissions: String(permissions) } },
    stickers,
  });
  return {
    ...INITIAL_STATE,
    user: { id: "1" },
    guilds: {
      "20": guild("20", "Other", "2020", [sticker("2", "Tea")]),
      "30": guild("30", "Here", "2021", [sticker("3", "Biscuit"), sticker("4", "Gone", false)]),
    },
    members: { "20": { "1": { roles: [] } }, "30": { "1": { roles: [] } } },
  } as unknown as State;
}

const CHANNEL = { id: "31", type: 0, guild_id: "30" } as unknown as APIChannel;
const PACKS = [{ id: "1", name: "Moot", stickers: [sticker("1", "Smile")] }] as unknown as APIStickerPack[];

describe("the stickers of a channel", () => {
  it("are those of its guild first, then of other guilds, then the standard ones", () => {
    const groups = stickerGroups(stateWith(Permission.UseExternalStickers), CHANNEL, PACKS, "");
    expect(groups.map((group) => group.name)).toEqual(["Here", "Other", "Moot"]);
    expect(groups[0]?.stickers.map((each) => each.id)).toEqual(["3"]);
  });

  it("are those of other guilds only where that is allowed", () => {
    const groups = stickerGroups(stateWith(Permission.SendMessages), CHANNEL, PACKS, "");
    expect(groups.map((group) => group.name)).toEqual(["Here", "Moot"]);
  });

  it("are found by name and tags", () => {
    const state = stateWith(Permission.UseExternalStickers);
    expect(stickerGroups(state, CHANNEL, PACKS, "smi").map((group) => group.name)).toEqual(["Moot"]);
    expect(stickerGroups(state, CHANNEL, PACKS, "CUP")).toHaveLength(3);
  });
});
