import type { APIChannel } from "discord-api-types/v10";

import { guildIdOf } from "../../store/channels";
import { everyonePermissions, signsOf, type ChannelSigns } from "../../store/channelSigns";
import { useAppState } from "../session/session";

/** The signs of a channel, as the role @everyone changes. */
export function useChannelSigns(channel: APIChannel): ChannelSigns {
  const everyone = useAppState((state) => everyonePermissions(state, guildIdOf(channel)));
  return signsOf(channel, everyone);
}
