import { useNavigate } from "@tanstack/react-router";
import type { APIChannel } from "discord-api-types/v10";

import { openDirectMessage } from "../../api/guilds";
import { useSession } from "../session/session";

/** Functions that lead to the direct message with a user, and to a channel that was just created. */
export function useOpenDirect(): {
  openDirect: (userId: string) => Promise<void>;
  openChannel: (channel: APIChannel) => Promise<void>;
} {
  const { api, store } = useSession();
  const navigate = useNavigate();
  const openChannel = async (channel: APIChannel) => {
    store.dispatch("CHANNEL_CREATE", channel);
    await navigate({ to: "/channels/@me/$channelId", params: { channelId: channel.id } });
  };
  const openDirect = async (userId: string) => openChannel(await openDirectMessage(api, userId));
  return { openDirect, openChannel };
}
