import { Link } from "@tanstack/react-router";
import { useMemo, useState, type ReactNode } from "react";
import { FormattedDate, FormattedRelativeTime, FormattedTime, useIntl } from "react-intl";
import { Button as AriaButton } from "react-aria-components";

import { emojiUrl } from "../../api/images";
import { useText } from "../../i18n/translate";
import { hasOnlyEmojis } from "../../markdown/emojis";
import { parse, type Node } from "../../markdown/parse";
import { channelName, displayName } from "../../store/selectors";
import { Guard } from "../../ui/Guard";
import { loaded } from "../../ui/loaded";
import { FULL_TIME } from "../../ui/times";
import { UserTrigger } from "../users/UserTrigger";
import { ExternalLink } from "../links/ExternalLink";
import { useAppState } from "../session/session";
import "./content.css";

const MAX_LARGE_EMOJIS = 27;

const CodeBlock = loaded(() => import("./CodeBlock"));

interface ContentProps {
  content: string;
  guildId: string | null;
  /** What stands at the end of the text, in its last line where that is a line of text. */
  end?: ReactNode;
}

/** The text of a message with its formatting, mentions and emojis. */
export function Content({ content, guildId, end }: ContentProps) {
  const nodes = useMemo(() => parse(content), [content]);
  const last = nodes.at(-1);
  const inLine = Boolean(end) && last?.type === "paragraph";
  return (
    <div className={isOnlyEmojis(nodes) ? "content content-emojis" : "content"} dir="auto">
      <Guard fallback={content}>
        {inLine ? (
          <>
            {renderAll(nodes.slice(0, -1), guildId)}
            <p>
              {renderAll(last.children, guildId)} {end}
            </p>
          </>
        ) : (
          renderAll(nodes, guildId)
        )}
      </Guard>
      {!inLine && end}
    </div>
  );
}

function renderAll(nodes: readonly Node[], guildId: string | null): ReactNode[] {
  return nodes.map((node, index) => <Rendered key={index} node={node} guildId={guildId} />);
}

function Rendered({ node, guildId }: { node: Node; guildId: string | null }): ReactNode {
  switch (node.type) {
    case "text":
      return node.text;
    case "break":
      return <br />;
    case "paragraph":
      return <p>{renderAll(node.children, guildId)}</p>;
    case "strong":
      return <strong>{renderAll(node.children, guildId)}</strong>;
    case "emphasis":
      return <em>{renderAll(node.children, guildId)}</em>;
    case "underline":
      return <u>{renderAll(node.children, guildId)}</u>;
    case "strike":
      return <s>{renderAll(node.children, guildId)}</s>;
    case "spoiler":
      return <Spoiler>{renderAll(node.children, guildId)}</Spoiler>;
    case "heading":
      // The page has its own headings; those in messages begin below them.
      return (
        <div
          role="heading"
          aria-level={node.level + 3}
          className={`content-heading content-heading-${node.level}`}
        >
          {renderAll(node.children, guildId)}
        </div>
      );
    case "subtext":
      return <p className="content-subtext">{renderAll(node.children, guildId)}</p>;
    case "quote":
      return <blockquote>{renderAll(node.children, guildId)}</blockquote>;
    case "list":
      return node.ordered ? (
        <ol start={node.start}>{listItems(node.items, guildId)}</ol>
      ) : (
        <ul>{listItems(node.items, guildId)}</ul>
      );
    case "code":
      return <code>{node.text}</code>;
    case "codeBlock":
      return (
        <div className="content-code">
          {node.language !== "" && <span className="content-language">{node.language}</span>}
          <CodeBlock
            fallback={
              <pre>
                <code>{node.text}</code>
              </pre>
            }
            language={node.language}
            text={node.text}
          />
        </div>
      );
    case "link":
      return <ExternalLink url={node.url}>{renderAll(node.children, guildId)}</ExternalLink>;
    case "userMention":
      return <UserMention id={node.id} guildId={guildId} />;
    case "channelMention":
      return <ChannelMention id={node.id} />;
    case "roleMention":
      return <RoleMention id={node.id} guildId={guildId} />;
    case "everyoneMention":
      return <span className="mention">{node.text}</span>;
    case "emoji":
      return (
        <img
          className="content-emoji"
          src={emojiUrl(node.id, 48)}
          alt={`:${node.name}:`}
          title={`:${node.name}:`}
          loading="lazy"
        />
      );
    case "timestamp":
      return <Timestamp seconds={node.seconds} style={node.style} />;
  }
}

function listItems(items: readonly Node[][], guildId: string | null): ReactNode[] {
  return items.map((item, index) => <li key={index}>{renderAll(item, guildId)}</li>);
}

function Spoiler({ children }: { children: ReactNode }) {
  const text = useText();
  const [shown, setShown] = useState(false);
  return shown ? (
    <span className="spoiler spoiler-shown">{children}</span>
  ) : (
    <AriaButton className="spoiler" aria-label={text("message.spoiler")} onPress={() => setShown(true)}>
      <span aria-hidden="true" inert>
        {children}
      </span>
    </AriaButton>
  );
}

function UserMention({ id, guildId }: { id: string; guildId: string | null }) {
  const name = useAppState((state) => {
    const user = state.users[id];
    return user === undefined ? id : displayName(state, user, guildId);
  });
  return (
    <UserTrigger userId={id} guildId={guildId} className="mention mention-user">
      @{name}
    </UserTrigger>
  );
}

function RoleMention({ id, guildId }: { id: string; guildId: string | null }) {
  const name = useAppState((state) =>
    guildId === null ? undefined : state.guilds[guildId]?.roles[id]?.name,
  );
  return <span className="mention">@{name ?? id}</span>;
}

function ChannelMention({ id }: { id: string }) {
  const channel = useAppState((state) => state.channels[id]);
  const name = useAppState((state) => (channel === undefined ? null : channelName(state, channel)));
  const guildId = channel !== undefined && "guild_id" in channel ? channel.guild_id : undefined;
  if (guildId === undefined || name === null) {
    return <span className="mention">#{name ?? id}</span>;
  }
  return (
    <Link className="mention" to="/channels/$guildId/$channelId" params={{ guildId, channelId: id }}>
      #{name}
    </Link>
  );
}

const MINUTE = 60;
const UNITS: [limit: number, unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  [MINUTE, "second", 1],
  [60 * MINUTE, "minute", MINUTE],
  [24 * 60 * MINUTE, "hour", 60 * MINUTE],
  [30 * 24 * 60 * MINUTE, "day", 24 * 60 * MINUTE],
  [365 * 24 * 60 * MINUTE, "month", 30 * 24 * 60 * MINUTE],
  [Infinity, "year", 365 * 24 * 60 * MINUTE],
];

function Timestamp({ seconds, style }: { seconds: number; style: string }) {
  const { formatDate } = useIntl();
  const [now] = useState(() => Date.now() / 1000);
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) {
    return `<t:${seconds}>`;
  }
  let shown: ReactNode;
  if (style === "R") {
    const distance = seconds - now;
    const [, unit, length] = UNITS.find(([limit]) => Math.abs(distance) < limit) ?? ["", "year" as const, 1];
    shown = <FormattedRelativeTime value={Math.round(distance / length)} unit={unit} />;
  } else if (style === "t" || style === "T") {
    shown = <FormattedTime value={date} timeStyle={style === "t" ? "short" : "medium"} />;
  } else if (style === "d" || style === "D") {
    shown = <FormattedDate value={date} dateStyle={style === "d" ? "short" : "long"} />;
  } else {
    shown = <FormattedDate value={date} dateStyle={style === "F" ? "full" : "long"} timeStyle="short" />;
  }
  return (
    <time className="content-time" dateTime={date.toISOString()} title={formatDate(date, FULL_TIME)}>
      {shown}
    </time>
  );
}

/** Messages of a few emojis alone show them large. */
function isOnlyEmojis(nodes: readonly Node[]): boolean {
  const [first] = nodes;
  if (nodes.length !== 1 || first?.type !== "paragraph" || first.children.length > MAX_LARGE_EMOJIS) {
    return false;
  }
  return first.children.every(
    (node) => node.type === "emoji" || (node.type === "text" && hasOnlyEmojis(node.text, MAX_LARGE_EMOJIS)),
  );
}
