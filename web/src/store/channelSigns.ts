import type { APIChannel } from "discord-api-types/v10";

import { ChannelType, Permission } from "../api/enums";
import { guildIdOf, isThread, isVoice } from "./channels";
import { has } from "./permissions";
import type { State } from "./state";

/** Who may not enter a channel. */
export interface ChannelSigns {
  /** Members need a role, or their own overwrite, to view the channel or to connect to it. */
  isPrivate: boolean;
  isAgeRestricted: boolean;
}

export const NO_SIGNS: ChannelSigns = { isPrivate: false, isAgeRestricted: false };

/** What the role @everyone may do in a guild, as the API writes it; null outside of guilds. */
export function everyonePermissions(state: State, guildId: string | null): string | null {
  return guildId === null ? null : (state.guilds[guildId]?.roles[guildId]?.permissions ?? null);
}

/** The signs of a channel in a guild whose role @everyone has some permissions. */
export function signsOf(channel: APIChannel, everyone: string | null): ChannelSigns {
  if (isThread(channel)) {
    return { isPrivate: channel.type === ChannelType.PrivateThread, isAgeRestricted: false };
  }
  if (everyone === null) {
    return NO_SIGNS;
  }
  const guildId = guildIdOf(channel);
  const overwrites = "permission_overwrites" in channel ? (channel.permission_overwrites ?? []) : [];
  const overwrite = overwrites.find(({ id }) => id === guildId);
  const permissions = (BigInt(everyone) & ~BigInt(overwrite?.deny ?? 0)) | BigInt(overwrite?.allow ?? 0);
  const needed = Permission.ViewChannel | (isVoice(channel) ? Permission.Connect : 0n);
  return {
    isPrivate: !has(permissions, needed) && !has(permissions, Permission.Administrator),
    isAgeRestricted: "nsfw" in channel && channel.nsfw === true,
  };
}
