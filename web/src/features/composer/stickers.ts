import type { APIChannel, APISticker, APIStickerPack } from "discord-api-types/v10";

import { Permission } from "../../api/enums";
import { guildIdOf } from "../../store/channels";
import { channelPermissions, has } from "../../store/permissions";
import { orderedGuilds } from "../../store/selectors";
import type { State } from "../../store/state";

/** Stickers that stand below one name: those of a guild or of a pack. */
export interface StickerGroup {
  key: string;
  name: string;
  stickers: readonly APISticker[];
}

/**
 * The stickers that the user can send in a channel and that match a query: those of its guild, of others where that is
 * allowed, and the standard ones.
 */
export function stickerGroups(
  state: State,
  channel: APIChannel,
  packs: readonly APIStickerPack[],
  query: string,
): StickerGroup[] {
  const guildId = guildIdOf(channel);
  const mayUseOthers =
    guildId === null ||
    has(channelPermissions(state, channel, state.user?.id ?? ""), Permission.UseExternalStickers);
  const guilds = orderedGuilds(state)
    .filter((guild) => guild.id === guildId || mayUseOthers)
    .toSorted((a, b) => Number(b.id === guildId) - Number(a.id === guildId));
  const groups = [
    ...guilds.map(({ id, name, stickers }) => ({ key: `guild ${id}`, name, stickers })),
    ...packs.map(({ id, name, stickers }) => ({ key: `pack ${id}`, name, stickers })),
  ];
  const wanted = query.trim().toLowerCase();
  return groups
    .map((group) => ({ ...group, stickers: group.stickers.filter((each) => matches(each, wanted)) }))
    .filter((group) => group.stickers.length > 0);
}

function matches(sticker: APISticker, wanted: string): boolean {
  return (
    sticker.available !== false &&
    [sticker.name, sticker.tags, sticker.description ?? ""].some((each) =>
      each.toLowerCase().includes(wanted),
    )
  );
}
