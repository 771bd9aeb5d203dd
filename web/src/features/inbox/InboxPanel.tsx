import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { APIMessage } from "discord-api-types/v10";
import { AtSign, BookmarkX, Bookmark, Check, CheckCheck, X } from "lucide-react";
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { FormattedDate } from "react-intl";

import {
  acknowledgeChannels,
  dismissMention,
  getMentions,
  getSavedMessages,
  unsaveMessage,
  type SavedMessage,
} from "../../api/inbox";
import { acknowledgeMessage } from "../../api/messages";
import type { Part } from "../../i18n/messages";
import { Translate, useText, WithTexts } from "../../i18n/translate";
import { guildIdOf } from "../../store/channels";
import { channelName, displayName } from "../../store/selectors";
import { Button, IconButton } from "../../ui/controls";
import { EmptyPlace } from "../../ui/EmptyPlace";
import { Attachments } from "../attachments/Attachments";
import { ChannelIcon } from "../channels/ChannelIcon";
import { Content } from "../content/Content";
import { Embeds } from "../content/Embeds";
import { Guarded } from "../content/Undrawable";
import { leavePanel } from "../overlays/panels";
import { SidePanel, SidePanelBody } from "../overlays/SidePanel";
import { ErrorNotice } from "../session/ErrorNotice";
import { Queries } from "../session/queries";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { MemberAvatar } from "../users/MemberAvatar";
import { unreadChannels, type UnreadChannel } from "./unread";
import "../../ui/fields.css";
import "./inbox.css";

const PARTS: readonly Part[] = ["inbox"];
const PAGE = 25;
/** Of so many channels one request marks all as read. */
const MAX_READ_STATES = 100;

type TabId = "unread" | "mentions" | "saved";

/** What waits for the user, whichever channel is open: unread channels, mentions, and the messages they saved. */
export default function InboxPanel() {
  const text = useText();
  return (
    <SidePanel className="inbox" title={text("inbox.title")}>
      <WithTexts parts={PARTS}>
        <Queries>
          <InboxTabs />
        </Queries>
      </WithTexts>
    </SidePanel>
  );
}

function InboxTabs() {
  const text = useText();
  const [tab, setTab] = useState<TabId>("unread");
  return (
    <Tabs className="inbox-tabs" selectedKey={tab} onSelectionChange={(key) => setTab(key as TabId)}>
      <TabList aria-label={text("inbox.title")} className="tabs">
        <Tab id="unread" className="tab">
          {text("inbox.tab.unread")}
        </Tab>
        <Tab id="mentions" className="tab">
          {text("inbox.tab.mentions")}
        </Tab>
        <Tab id="saved" className="tab">
          {text("inbox.tab.saved")}
        </Tab>
      </TabList>
      <TabPanel id="unread" className="inbox-page">
        <SidePanelBody>
          <Unread />
        </SidePanelBody>
      </TabPanel>
      <TabPanel id="mentions" className="inbox-page">
        <SidePanelBody>
          <MentionList />
        </SidePanelBody>
      </TabPanel>
      <TabPanel id="saved" className="inbox-page">
        <SidePanelBody>
          <SavedList />
        </SidePanelBody>
      </TabPanel>
    </Tabs>
  );
}

function Unread() {
  const text = useText();
  const session = useSession();
  const action = useAction();
  const channels = useAppState((state) => state.channels);
  const readStates = useAppState((state) => state.readStates);
  const guilds = useAppState((state) => state.guilds);
  const unread = useMemo(
    () => unreadChannels(session.store.state),
    // The list depends on these parts of the state.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [session.store, channels, readStates, guilds],
  );
  const mark = ({ channel, messageId }: UnreadChannel) =>
    action.run(() => acknowledgeMessage(session.api, channel.id, messageId));
  const markAll = () =>
    action.run(() =>
      acknowledgeChannels(
        session.api,
        unread
          .slice(0, MAX_READ_STATES)
          .map(({ channel, messageId }) => ({ channelId: channel.id, messageId })),
      ),
    );
  if (unread.length === 0) {
    return (
      <EmptyPlace icon={CheckCheck} title={text("inbox.unread.none.title")}>
        <Translate id="inbox.unread.none" />
      </EmptyPlace>
    );
  }
  return (
    <>
      <Button isDisabled={action.pending} onPress={() => void markAll()}>
        {text("inbox.unread.all")}
      </Button>
      <ErrorNotice error={action.error} />
      <ul className="inbox-unread">
        {unread.map((each) => (
          <li key={each.channel.id}>
            <Link
              to="/channels/$guildId/$channelId"
              params={{ guildId: each.guildId ?? "@me", channelId: each.channel.id }}
              className="inbox-channel"
              onClick={leavePanel}
            >
              <ChannelIcon type={each.channel.type} />
              <span className="inbox-names">
                <strong dir="auto">{each.name}</strong>
                <span dir="auto">{each.guildName === "" ? text("inbox.direct") : each.guildName}</span>
              </span>
              {each.mentions > 0 && (
                <span
                  className="mentions"
                  role="img"
                  aria-label={text("inbox.unread.mentions", { count: each.mentions })}
                >
                  {each.mentions}
                </span>
              )}
            </Link>
            <IconButton
              label={`${text("common.markRead")}: ${each.name}`}
              isDisabled={action.pending}
              onPress={() => void mark(each)}
            >
              <Check size={18} />
            </IconButton>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Load a list again when one of these events arrives. */
function useUpdates(key: string, events: readonly string[]): void {
  const { store } = useSession();
  const client = useQueryClient();
  useEffect(
    () =>
      store.observe((name, data) => {
        const mentionsUser =
          name === "MESSAGE_CREATE" && mentions(data as APIMessage, store.state.user?.id ?? "");
        if (events.includes(name) || (key === "mentions" && mentionsUser)) {
          void client.invalidateQueries({ queryKey: ["inbox", key] });
        }
      }),
    [store, client, key, events],
  );
}

function mentions(message: APIMessage, userId: string): boolean {
  return message.mention_everyone || message.mentions.some(({ id }) => id === userId);
}

const MENTION_EVENTS = ["RECENT_MENTION_DELETE", "MESSAGE_DELETE"];
const SAVED_EVENTS = ["SAVED_MESSAGE_CREATE", "SAVED_MESSAGE_DELETE", "MESSAGE_DELETE"];

function MentionList() {
  const text = useText();
  const { api } = useSession();
  const client = useQueryClient();
  const action = useAction();
  const query = useInfiniteQuery({
    queryKey: ["inbox", "mentions"],
    queryFn: ({ pageParam }: { pageParam: string | undefined }) => getMentions(api, PAGE, pageParam),
    initialPageParam: undefined,
    getNextPageParam: (page: readonly APIMessage[]) => (page.length === PAGE ? page.at(-1)?.id : undefined),
    staleTime: 0,
  });
  useUpdates("mentions", MENTION_EVENTS);
  if (query.isPending) {
    return <Translate id="app.loading" />;
  }
  if (query.isError) {
    return <ErrorNotice error={query.error} />;
  }
  const messages = query.data.pages.flat();
  if (messages.length === 0) {
    return (
      <EmptyPlace icon={AtSign} title={text("inbox.mentions.none.title")}>
        <Translate id="inbox.mentions.none" />
      </EmptyPlace>
    );
  }
  const dismiss = async (message: APIMessage) => {
    await dismissMention(api, message.id);
    await client.invalidateQueries({ queryKey: ["inbox", "mentions"] });
  };
  return (
    <>
      <ErrorNotice error={action.error} />
      <ul className="pins">
        {messages.map((message) => (
          <InboxMessage key={message.id} message={message}>
            <IconButton
              label={text("inbox.mentions.dismiss")}
              isDisabled={action.pending}
              onPress={() => void action.run(() => dismiss(message))}
            >
              <X size={18} />
            </IconButton>
          </InboxMessage>
        ))}
      </ul>
      {query.hasNextPage && (
        <Button isDisabled={query.isFetchingNextPage} onPress={() => void query.fetchNextPage()}>
          {text("inbox.more")}
        </Button>
      )}
    </>
  );
}

function SavedList() {
  const text = useText();
  const { api } = useSession();
  const client = useQueryClient();
  const action = useAction();
  const query = useQuery({
    queryKey: ["inbox", "saved"],
    queryFn: () => getSavedMessages(api),
    staleTime: 0,
  });
  useUpdates("saved", SAVED_EVENTS);
  if (query.isPending) {
    return <Translate id="app.loading" />;
  }
  if (query.isError) {
    return <ErrorNotice error={query.error} />;
  }
  if (query.data.length === 0) {
    return (
      <EmptyPlace icon={Bookmark} title={text("inbox.saved.none.title")}>
        <Translate id="inbox.saved.none" />
      </EmptyPlace>
    );
  }
  const remove = async ({ save_data: { channel_id: channelId, message_id: messageId } }: SavedMessage) => {
    await unsaveMessage(api, channelId, messageId);
    await client.invalidateQueries({ queryKey: ["inbox", "saved"] });
  };
  return (
    <>
      <ErrorNotice error={action.error} />
      <ul className="pins">
        {query.data.map((saved) => {
          const button = (
            <IconButton
              label={text("inbox.saved.remove")}
              isDisabled={action.pending}
              onPress={() => void action.run(() => remove(saved))}
            >
              <BookmarkX size={18} />
            </IconButton>
          );
          return saved.message === null ? (
            <li key={saved.save_data.message_id}>
              <p className="pin-body inbox-gone">{text("inbox.saved.gone")}</p>
              <span className="pin-actions">{button}</span>
            </li>
          ) : (
            <InboxMessage key={saved.save_data.message_id} message={saved.message}>
              {button}
            </InboxMessage>
          );
        })}
      </ul>
    </>
  );
}

/** A message with where it stands, and a link to it. */
function InboxMessage({ message, children }: { message: APIMessage; children: ReactNode }) {
  const text = useText();
  const channel = useAppState((state) => state.channels[message.channel_id]);
  const guildId = channel === undefined ? null : guildIdOf(channel);
  const name = useAppState((state) => displayName(state, message.author, guildId));
  const place = useAppState((state) => {
    if (channel === undefined || guildId === null) {
      return text("inbox.direct");
    }
    return `#${channelName(state, channel)} · ${state.guilds[guildId]?.name ?? ""}`;
  });
  return (
    <li>
      <MemberAvatar user={message.author} guildId={guildId} name={name} size={32} />
      <div className="pin-body">
        <p className="pin-header">
          <strong dir="auto">{name}</strong>
          <time className="message-time" dateTime={message.timestamp}>
            <FormattedDate value={message.timestamp} dateStyle="short" timeStyle="short" />
          </time>
        </p>
        <p className="inbox-place" dir="auto">
          {place}
        </p>
        <Guarded>
          <Content content={message.content} guildId={guildId} />
          <Attachments attachments={message.attachments} stickers={message.sticker_items} />
          <Embeds embeds={message.embeds} guildId={guildId} content={message.content} />
        </Guarded>
      </div>
      <span className="pin-actions">
        <Link
          className="button button-quiet"
          to="/channels/$guildId/$channelId/$messageId"
          params={{ guildId: guildId ?? "@me", channelId: message.channel_id, messageId: message.id }}
          onClick={leavePanel}
        >
          {text("search.jump")}
        </Link>
        {children}
      </span>
    </li>
  );
}
