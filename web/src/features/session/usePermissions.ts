import type { APIChannel } from "discord-api-types/v10";

import { channelPermissions } from "../../store/permissions";
import { useAppState } from "./session";

/** The user's permissions in a channel or thread; none without a channel. */
export function useChannelPermissions(channel: APIChannel | undefined): bigint {
  return useAppState((state) =>
    channel === undefined ? 0n : channelPermissions(state, channel, state.user?.id ?? ""),
  );
}
