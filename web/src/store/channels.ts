import type {
  APIChannel,
  APIGuildForumChannel,
  APIGuildMediaChannel,
  APIThreadChannel,
} from "discord-api-types/v10";

import { ChannelType } from "../api/enums";

export function isPrivate(channel: APIChannel): boolean {
  return channel.type === ChannelType.DM || channel.type === ChannelType.GroupDM;
}

export function isThread(channel: APIChannel): channel is APIThreadChannel {
  return (
    channel.type === ChannelType.PublicThread ||
    channel.type === ChannelType.PrivateThread ||
    channel.type === ChannelType.AnnouncementThread
  );
}

/** Whether threads of a channel are posts: forum and media channels have no messages of their own. */
export function isForum(channel: APIChannel): channel is APIGuildForumChannel | APIGuildMediaChannel {
  return channel.type === ChannelType.GuildForum || channel.type === ChannelType.GuildMedia;
}

export function isVoice(channel: APIChannel): boolean {
  return channel.type === ChannelType.GuildVoice || channel.type === ChannelType.GuildStageVoice;
}

/** The guild of a channel; null for direct messages. */
export function guildIdOf(channel: APIChannel): string | null {
  return "guild_id" in channel ? (channel.guild_id ?? null) : null;
}

/** The category of a channel, or the channel of a thread; null for none. */
export function parentIdOf(channel: APIChannel): string | null {
  return "parent_id" in channel ? (channel.parent_id ?? null) : null;
}
