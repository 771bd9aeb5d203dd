import { useNavigate } from "@tanstack/react-router";
import type { APIThreadChannel } from "discord-api-types/v10";

import { ChannelView } from "./ChannelView";

/** A thread beside its channel. */
export function ThreadPanel({ thread, guildId }: { thread: APIThreadChannel; guildId: string }) {
  const navigate = useNavigate();
  const go = (channelId: string) =>
    void navigate({ to: "/channels/$guildId/$channelId", params: { guildId, channelId } });
  return (
    <section className="thread-panel" aria-label={thread.name}>
      <ChannelView
        channel={thread}
        targetId={null}
        onToggleMembers={null}
        beside={{ onClose: () => go(thread.parent_id ?? ""), onExpand: () => go(thread.id) }}
      />
    </section>
  );
}
