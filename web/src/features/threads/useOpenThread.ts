import { useNavigate } from "@tanstack/react-router";

import { bringThreadToFront, leavePanel } from "../overlays/panels";

/** Wide enough for a thread beside its channel. */
const WIDE = "(min-width: 1000px)";

export interface OpenThread {
  guildId: string;
  parentId: string;
  threadId: string;
}

/** Opens a thread beside its channel, or instead of it on screens without room for both. */
export function useOpenThread(): (thread: OpenThread) => void {
  const navigate = useNavigate();
  return ({ guildId, parentId, threadId }) => {
    bringThreadToFront();
    leavePanel();
    void (matchMedia(WIDE).matches
      ? navigate({
          to: "/channels/$guildId/$channelId",
          params: { guildId, channelId: parentId },
          search: { thread: threadId },
        })
      : navigate({ to: "/channels/$guildId/$channelId", params: { guildId, channelId: threadId } }));
  };
}
