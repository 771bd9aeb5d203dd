import { Link } from "@tanstack/react-router";
import type { APIMessage } from "discord-api-types/v10";

import { Translate } from "../../i18n/translate";
import { displayName } from "../../store/selectors";
import { MemberAvatar } from "../users/MemberAvatar";
import { Attachments } from "../attachments/Attachments";
import { Content } from "../content/Content";
import { useAppState } from "../session/session";

/** The message that a thread was started from, at the thread's beginning. */
export function StarterMessage({ message, guildId }: { message: APIMessage; guildId: string | null }) {
  const original = message.referenced_message;
  const name = useAppState((state) => (original ? displayName(state, original.author, guildId) : ""));
  if (!original) {
    return (
      <p className="message-system">
        <Translate id="thread.starter.gone" />
      </p>
    );
  }
  return (
    <div className="thread-starter">
      <div className="thread-starter-header">
        <MemberAvatar user={original.author} guildId={guildId} name={name} size={20} />
        <strong>{name}</strong>
        {guildId !== null && (
          <Link
            to="/channels/$guildId/$channelId/$messageId"
            params={{ guildId, channelId: original.channel_id, messageId: original.id }}
          >
            <Translate id="thread.starter" />
          </Link>
        )}
      </div>
      <Content content={original.content} guildId={guildId} />
      <Attachments attachments={original.attachments} stickers={original.sticker_items} />
    </div>
  );
}
