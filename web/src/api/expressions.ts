import type { APIEmoji, APISoundboardSound, APISticker, APIStickerPack } from "discord-api-types/v10";

import type { ApiClient } from "./client";

/** Emojis with their creators, whom only those see who may create or manage expressions. */
export function listEmojis(api: ApiClient, guildId: string): Promise<APIEmoji[]> {
  return api.request("GET", `/guilds/${guildId}/emojis`);
}

/** Add an emoji from a picture as a data URI. */
export function createEmoji(
  api: ApiClient,
  guildId: string,
  emoji: { name: string; image: string; roles?: readonly string[] },
): Promise<APIEmoji> {
  return api.request("POST", `/guilds/${guildId}/emojis`, { body: emoji });
}

export function modifyEmoji(
  api: ApiClient,
  guildId: string,
  emojiId: string,
  changes: { name?: string; roles?: readonly string[] },
): Promise<APIEmoji> {
  return api.request("PATCH", `/guilds/${guildId}/emojis/${emojiId}`, { body: changes });
}

export function deleteEmoji(api: ApiClient, guildId: string, emojiId: string): Promise<void> {
  return api.request("DELETE", `/guilds/${guildId}/emojis/${emojiId}`);
}

export interface StickerFields {
  name: string;
  description: string;
  /** A related emoji, for completion and search. */
  tags: string;
}

export function listStickers(api: ApiClient, guildId: string): Promise<APISticker[]> {
  return api.request("GET", `/guilds/${guildId}/stickers`);
}

export function createSticker(
  api: ApiClient,
  guildId: string,
  fields: StickerFields,
  file: File,
): Promise<APISticker> {
  return api.request("POST", `/guilds/${guildId}/stickers`, { form: { ...fields, file } });
}

export function modifySticker(
  api: ApiClient,
  guildId: string,
  stickerId: string,
  fields: Partial<StickerFields>,
): Promise<APISticker> {
  return api.request("PATCH", `/guilds/${guildId}/stickers/${stickerId}`, { body: fields });
}

export function deleteSticker(api: ApiClient, guildId: string, stickerId: string): Promise<void> {
  return api.request("DELETE", `/guilds/${guildId}/stickers/${stickerId}`);
}

/** The packs of standard stickers, which everyone may send. */
export async function listStickerPacks(api: ApiClient): Promise<APIStickerPack[]> {
  return (await api.request<{ sticker_packs: APIStickerPack[] }>("GET", "/sticker-packs")).sticker_packs;
}

export interface SoundFields {
  name: string;
  /** From 0 to 1. */
  volume: number;
  emoji_name: string | null;
}

export async function listSounds(api: ApiClient, guildId: string): Promise<APISoundboardSound[]> {
  const { items } = await api.request<{ items: APISoundboardSound[] }>(
    "GET",
    `/guilds/${guildId}/soundboard-sounds`,
  );
  return items;
}

/** The sounds that every guild has. */
export function listDefaultSounds(api: ApiClient): Promise<APISoundboardSound[]> {
  return api.request("GET", "/soundboard-default-sounds");
}

/** Play a sound in the voice channel that the caller is in. Those of guilds name theirs. */
export function playSound(
  api: ApiClient,
  channelId: string,
  sound: Pick<APISoundboardSound, "sound_id" | "guild_id">,
): Promise<void> {
  return api.request("POST", `/channels/${channelId}/send-soundboard-sound`, {
    body: { sound_id: sound.sound_id, source_guild_id: sound.guild_id ?? null },
  });
}

/** Add a sound from an mp3 or ogg as a data URI. */
export function createSound(
  api: ApiClient,
  guildId: string,
  sound: SoundFields & { sound: string },
): Promise<APISoundboardSound> {
  return api.request("POST", `/guilds/${guildId}/soundboard-sounds`, { body: sound });
}

export function modifySound(
  api: ApiClient,
  guildId: string,
  soundId: string,
  fields: Partial<SoundFields>,
): Promise<APISoundboardSound> {
  return api.request("PATCH", `/guilds/${guildId}/soundboard-sounds/${soundId}`, { body: fields });
}

export function deleteSound(api: ApiClient, guildId: string, soundId: string): Promise<void> {
  return api.request("DELETE", `/guilds/${guildId}/soundboard-sounds/${soundId}`);
}

export function soundUrl(soundId: string): string {
  return `/soundboard-sounds/${soundId}`;
}
