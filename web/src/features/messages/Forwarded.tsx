import { Link } from "@tanstack/react-router";
import type { APIMessage, APIMessageSnapshot } from "discord-api-types/v10";
import { Forward } from "lucide-react";
import { FormattedDate } from "react-intl";

import { Translate } from "../../i18n/translate";
import { guildIdOf } from "../../store/channels";
import { channelName } from "../../store/selectors";
import { loaded } from "../../ui/loaded";
import { useAppState } from "../session/session";
import { Attachments } from "../attachments/Attachments";
import { Content } from "../content/Content";
import { Embeds } from "../content/Embeds";
import "./forwarding.css";

const Components = loaded(async () => ({ default: (await import("../components/Components")).Components }));

/** The copy of a message that another one forwards, and where it is from, if the user can go there. */
export default function Forwarded({
  message,
  snapshot,
}: {
  message: APIMessage;
  snapshot: APIMessageSnapshot;
}) {
  const copy = snapshot.message;
  return (
    <blockquote className="message-forwarded">
      <span className="message-edited">
        <Forward size={14} aria-hidden="true" /> <Translate id="message.forwarded" />
      </span>
      {copy.content !== "" && <Content content={copy.content} guildId={null} />}
      <Attachments attachments={copy.attachments} stickers={copy.sticker_items} />
      <Embeds embeds={copy.embeds} guildId={null} content={copy.content} />
      {copy.components?.length ? (
        // What is forwarded is shown, not used.
        <div inert>
          <Components message={{ ...message, components: copy.components }} guildId={null} />
        </div>
      ) : null}
      <Source message={message} timestamp={copy.timestamp} />
    </blockquote>
  );
}

function Source({ message, timestamp }: { message: APIMessage; timestamp: string }) {
  const { channel_id: channelId, message_id: messageId } = message.message_reference ?? {};
  const channel = useAppState((state) => state.channels[channelId ?? ""]);
  const name = useAppState((state) => (channel === undefined ? "" : channelName(state, channel)));
  const date = <FormattedDate value={timestamp} dateStyle="medium" timeStyle="short" />;
  if (channel === undefined || messageId === undefined) {
    return <span className="message-edited">{date}</span>;
  }
  const guildId = guildIdOf(channel);
  return (
    <Link
      className="forward-source"
      to="/channels/$guildId/$channelId/$messageId"
      params={{ guildId: guildId ?? "@me", channelId: channel.id, messageId }}
    >
      {guildId === null ? name : `#${name}`} · {date}
    </Link>
  );
}
