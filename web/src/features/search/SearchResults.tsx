import { Link } from "@tanstack/react-router";
import type { APIMessage } from "discord-api-types/v10";
import { useState } from "react";
import { Button as AriaButton } from "react-aria-components";
import { FormattedDate } from "react-intl";

import { getMessages } from "../../api/messages";
import { useText } from "../../i18n/translate";
import { channelName, displayName } from "../../store/selectors";
import { MemberAvatar } from "../users/MemberAvatar";
import { Attachments } from "../attachments/Attachments";
import { Content } from "../content/Content";
import { Guarded } from "../content/Undrawable";
import { Embeds } from "../content/Embeds";
import { useAppState, useSession } from "../session/session";
import { useAction, useErrorText } from "../session/useAction";
import { leavePanel } from "../overlays/panels";

const CONTEXT_SIZE = 5;

interface SearchResultsProps {
  /** Null for those of a direct message. */
  guildId: string | null;
  messages: readonly APIMessage[];
}

/** Messages that match; those of a guild are under the names of their channels. */
export function SearchResults({ guildId, messages }: SearchResultsProps) {
  return (
    <ul className="search-results">
      {messages.map((message, index) => (
        <li key={message.id}>
          {guildId !== null && messages[index - 1]?.channel_id !== message.channel_id && (
            <ChannelHeading channelId={message.channel_id} />
          )}
          <Result message={message} guildId={guildId} />
        </li>
      ))}
    </ul>
  );
}

function ChannelHeading({ channelId }: { channelId: string }) {
  const name = useAppState((state) => {
    const channel = state.channels[channelId];
    return channel === undefined ? channelId : channelName(state, channel);
  });
  return <h3 className="search-channel">#{name}</h3>;
}

/** A message with a link to it; the messages around it are shown on demand. */
function Result({ message, guildId }: { message: APIMessage; guildId: string | null }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const errorText = useErrorText();
  const [context, setContext] = useState<readonly APIMessage[] | null>(null);
  const load = async () => {
    const around = await getMessages(api, message.channel_id, { around: message.id, limit: CONTEXT_SIZE });
    setContext(around.toReversed());
  };
  const shown = context ?? [message];
  return (
    <article className="search-result">
      {shown.map((each) => (
        <Guarded key={each.id}>
          <Found message={each} guildId={guildId} isContext={each.id !== message.id} />
        </Guarded>
      ))}
      <div className="search-result-actions">
        <Link
          className="button button-quiet"
          to="/channels/$guildId/$channelId/$messageId"
          params={{ guildId: guildId ?? "@me", channelId: message.channel_id, messageId: message.id }}
          onClick={leavePanel}
        >
          {text("search.jump")}
        </Link>
        {context === null && (
          <AriaButton
            className="button button-quiet"
            isDisabled={action.pending}
            onPress={() => void action.run(load)}
          >
            {text("search.context")}
          </AriaButton>
        )}
      </div>
      {action.error !== null && (
        <p role="alert" className="field-error">
          {errorText(action.error)}
        </p>
      )}
    </article>
  );
}

interface FoundProps {
  message: APIMessage;
  guildId: string | null;
  isContext: boolean;
}

function Found({ message, guildId, isContext }: FoundProps) {
  const name = useAppState((state) => displayName(state, message.author, guildId));
  return (
    <div className={isContext ? "search-message search-message-context" : "search-message"}>
      <MemberAvatar user={message.author} guildId={guildId} name={name} size={32} />
      <div>
        <p>
          <strong>{name}</strong>{" "}
          <time className="message-time" dateTime={message.timestamp}>
            <FormattedDate value={message.timestamp} dateStyle="short" timeStyle="short" />
          </time>
        </p>
        {message.content !== "" && <Content content={message.content} guildId={guildId} />}
        <Attachments attachments={message.attachments} stickers={message.sticker_items} />
        <Embeds embeds={message.embeds} guildId={guildId} content={message.content} />
      </div>
    </div>
  );
}
