import { Link } from "@tanstack/react-router";
import type { APIThreadChannel } from "discord-api-types/v10";
import { Lock } from "lucide-react";

import { ChannelType } from "../../api/enums";
import { useText } from "../../i18n/translate";
import { showsUnread } from "../../store/reading";
import { Mentions } from "../channels/Mentions";
import { useAppState } from "../session/session";
import "./threads.css";

interface ThreadRowsProps {
  guildId: string;
  threads: readonly APIThreadChannel[];
  /** The thread that is open beside its channel. */
  besideId: string | undefined;
}

/** The threads of a channel in the channel list. */
export function ThreadRows({ guildId, threads, besideId }: ThreadRowsProps) {
  const text = useText();
  return (
    <ul className="thread-rows" aria-label={text("thread.list")}>
      {threads.map((thread) => (
        <ThreadRow key={thread.id} thread={thread} guildId={guildId} isBeside={thread.id === besideId} />
      ))}
    </ul>
  );
}

function ThreadRow({
  thread,
  guildId,
  isBeside,
}: {
  thread: APIThreadChannel;
  guildId: string;
  isBeside: boolean;
}) {
  const text = useText();
  const unread = useAppState((state) => showsUnread(state, thread));
  const classes = ["channel-row", unread && "channel-unread", isBeside && "active"].filter(Boolean);
  return (
    <li>
      <Link
        to="/channels/$guildId/$channelId"
        params={{ guildId, channelId: thread.id }}
        className={classes.join(" ")}
      >
        <span className="channel-name" dir="auto">
          {thread.name}
        </span>
        {thread.type === ChannelType.PrivateThread && (
          <>
            <Lock size={12} aria-hidden="true" className="channel-icon" />
            <span className="visually-hidden">{text("channel.private")}</span>
          </>
        )}
        <Mentions channelIds={[thread.id]} />
      </Link>
    </li>
  );
}
