import type { APIUser } from "discord-api-types/v10";

/** Sizes of images are powers of two; screens with dense pixels get twice the shown size. */
function pixels(shown: number): number {
  const wanted = shown * Math.min(2, globalThis.devicePixelRatio || 1);
  return 2 ** Math.max(4, Math.min(12, Math.ceil(Math.log2(wanted))));
}

function imageUrl(folder: string, id: string, hash: string | null, size: number): string | null {
  return hash === null ? null : `/${folder}/${id}/${hash}.webp?size=${pixels(size)}`;
}

/** The URL of a user's avatar as it is shown `size` CSS pixels wide; null if they have none. */
export function avatarUrl(user: Pick<APIUser, "id" | "avatar">, size: number): string | null {
  return imageUrl("avatars", user.id, user.avatar, size);
}

/** The URL of the avatar that a member has in one guild; null if they have none of its own there. */
export function memberAvatarUrl(
  guildId: string,
  userId: string,
  avatar: string | null,
  size: number,
): string | null {
  return imageUrl(`guilds/${guildId}/users/${userId}`, "avatars", avatar, size);
}

export function memberBannerUrl(
  guildId: string,
  userId: string,
  banner: string | null,
  size: number,
): string | null {
  return imageUrl(`guilds/${guildId}/users/${userId}`, "banners", banner, size);
}

export function guildIconUrl(guildId: string, icon: string | null, size: number): string | null {
  return imageUrl("icons", guildId, icon, size);
}

export function groupIconUrl(channelId: string, icon: string | null, size: number): string | null {
  return imageUrl("channel-icons", channelId, icon, size);
}

export function appIconUrl(applicationId: string, icon: string | null, size: number): string | null {
  return imageUrl("app-icons", applicationId, icon, size);
}

export function bannerUrl(userId: string, banner: string | null, size: number): string | null {
  return imageUrl("banners", userId, banner, size);
}

export function eventImageUrl(eventId: string, image: string | null, size: number): string | null {
  return imageUrl("guild-events", eventId, image, size);
}

export function emojiUrl(emojiId: string, size: number): string {
  return `/emojis/${emojiId}.webp?size=${pixels(size)}`;
}

const GIF_STICKER = 4;

/** The file of a sticker; one in the Lottie format (3) has no picture. */
export function stickerUrl(sticker: { id: string; format_type: number }): string {
  return `/stickers/${sticker.id}.${sticker.format_type === GIF_STICKER ? "gif" : "png"}`;
}

/** The URL of a wide picture of a guild. */
export function guildImageUrl(
  kind: "banners" | "splashes" | "discovery-splashes",
  guildId: string,
  hash: string | null,
  size: number,
): string | null {
  return imageUrl(kind, guildId, hash, size);
}

export function roleIconUrl(roleId: string, icon: string | null | undefined, size: number): string | null {
  return imageUrl("role-icons", roleId, icon ?? null, size);
}
