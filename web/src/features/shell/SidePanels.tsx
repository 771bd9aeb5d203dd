import type { APIChannel, APIThreadChannel } from "discord-api-types/v10";
import { useEffect, useMemo } from "react";

import { ChannelType } from "../../api/enums";
import { isForum, isThread } from "../../store/channels";
import type { GuildState } from "../../store/state";
import { loaded } from "../../ui/loaded";
import { ThreadPanel } from "../channel_view/ThreadPanel";
import { bringThreadToFront, usePanels, useShowsMembers } from "../overlays/panels";

const InboxPanel = loaded(() => import("../inbox/InboxPanel"));
const MemberList = loaded(async () => ({ default: (await import("../members/MemberList")).MemberList }));
const Pins = loaded(() => import("../channel_view/Pins"));
const ProfilePanel = loaded(() => import("../members/ProfilePanel"));
const SearchPanel = loaded(async () => ({ default: (await import("../search/SearchPanel")).SearchPanel }));
const Shelf = loaded(() => import("../activities/Shelf"));
const ThreadBrowser = loaded(() => import("../threads/ThreadBrowser"));
const ThreadMembers = loaded(() => import("../threads/ThreadMembers"));

const HAS_THREADS: ReadonlySet<ChannelType> = new Set([ChannelType.GuildText, ChannelType.GuildAnnouncement]);

interface SidePanelsProps {
  /** Null for direct messages. */
  guild: GuildState | null;
  /** Null where none is open: then the inbox alone shows. */
  channel: APIChannel | null;
  /** The thread that is open beside the channel. */
  thread: APIThreadChannel | null;
}

/** What stands beside a channel: a thread, the panel that was opened last, or the members. */
export function SidePanels({ guild, channel, thread }: SidePanelsProps) {
  const { panel, hasThreadInFront } = usePanels();
  const showsMembers = useShowsMembers();
  const threadId = thread?.id;
  useEffect(() => {
    if (threadId !== undefined) {
      bringThreadToFront();
    }
  }, [threadId]);
  if (thread !== null && (hasThreadInFront || panel === null)) {
    return <ThreadPanel key={thread.id} thread={thread} guildId={guild?.id ?? ""} />;
  }
  if (panel?.kind === "inbox") {
    return <InboxPanel />;
  }
  if (channel === null) {
    return null;
  }
  switch (panel?.kind) {
    case "search":
      return guild === null ? (
        <DirectSearch key={channel.id} channelId={channel.id} />
      ) : (
        <GuildSearch key={guild.id} guildId={guild.id} />
      );
    case "profile":
      return <ProfilePanel key={panel.userId} userId={panel.userId} guildId={guild?.id ?? null} />;
    case "activities": {
      const place = panel.threadId === threadId && thread !== null ? thread : channel;
      if (!isForum(place)) {
        return <Shelf key={place.id} channelId={place.id} guildId={guild?.id ?? null} />;
      }
      break;
    }
    case "pins": {
      const pinned = panel.threadId === threadId && thread !== null ? thread : channel;
      if (!isForum(pinned)) {
        return <Pins key={pinned.id} channelId={pinned.id} guildId={guild?.id ?? null} />;
      }
      break;
    }
    case "threads":
      if (HAS_THREADS.has(channel.type)) {
        return <ThreadBrowser key={channel.id} channel={channel} />;
      }
  }
  return guild !== null && showsMembers ? <Members guild={guild} channel={channel} /> : null;
}

/** The members of a guild, or of the thread that is open. */
function Members({ guild, channel }: { guild: GuildState; channel: APIChannel }) {
  return isThread(channel) ? (
    <ThreadMembers key={channel.id} thread={channel} />
  ) : (
    <MemberList
      fallback={<aside className="members side-panel" aria-busy="true" />}
      guild={guild}
      channel={channel}
    />
  );
}

function GuildSearch({ guildId }: { guildId: string }) {
  // A new scope searches again.
  const scope = useMemo(() => ({ guildId }), [guildId]);
  return <SearchPanel scope={scope} />;
}

function DirectSearch({ channelId }: { channelId: string }) {
  const scope = useMemo(() => ({ guildId: null, channelId }), [channelId]);
  return <SearchPanel scope={scope} />;
}
