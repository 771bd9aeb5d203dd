import { ChannelType } from "../../api/enums";
import type { APIChannel, APIUser } from "discord-api-types/v10";

/** The other members of a direct message. */
export function recipientsOf(channel: APIChannel): readonly APIUser[] {
  return "recipients" in channel ? (channel.recipients ?? []) : [];
}

export function isGroup(channel: APIChannel): boolean {
  return channel.type === ChannelType.GroupDM;
}
