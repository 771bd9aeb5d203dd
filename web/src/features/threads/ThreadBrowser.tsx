import { useInfiniteQuery } from "@tanstack/react-query";
import type { APIChannel, APIThreadChannel } from "discord-api-types/v10";
import { Lock, Plus, Search, Spool } from "lucide-react";
import { useMemo, useState } from "react";
import { Button as AriaButton, Tab, TabList, TabPanel, Tabs } from "react-aria-components";
import { useIntl } from "react-intl";

import { ChannelType, Permission } from "../../api/enums";
import { getArchivedThreads, type ArchivedKind, type ThreadPage } from "../../api/threads";
import { Translate, useText } from "../../i18n/translate";
import { guildIdOf } from "../../store/channels";
import { has } from "../../store/permissions";
import { compareIds } from "../../store/records";
import { isUnread } from "../../store/reading";
import { displayName } from "../../store/selectors";
import { isArchived, isLocked, lastActivity, putThreads, threadsOf } from "../../store/threads";
import { Button } from "../../ui/controls";
import { SearchField } from "../../ui/fields";
import { relativeTime, timeOfId } from "../../ui/times";
import { WithChannelTexts } from "../../i18n/WithChannelTexts";
import { SidePanel, SidePanelBody } from "../overlays/SidePanel";
import { Queries } from "../session/queries";
import { useAppState, useSession } from "../session/session";
import { useErrorText } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";
import ThreadForm from "./ThreadForm";
import { useOpenThread } from "./useOpenThread";

/** The active and archived threads of a channel, beside it. */
export default function ThreadBrowser({ channel }: { channel: APIChannel }) {
  const text = useText();
  const [creates, setCreates] = useState(false);
  return (
    <SidePanel title={text("thread.browse")}>
      <SidePanelBody>
        <WithChannelTexts>
          <Queries>
            <Lists channel={channel} onCreate={() => setCreates(true)} />
          </Queries>
        </WithChannelTexts>
      </SidePanelBody>
      {creates && <ThreadForm channel={channel} message={null} onClose={() => setCreates(false)} />}
    </SidePanel>
  );
}

function Lists({ channel, onCreate }: { channel: APIChannel; onCreate: () => void }) {
  const text = useText();
  const permissions = useChannelPermissions(channel);
  const [search, setSearch] = useState("");
  const mayCreate =
    has(permissions, Permission.CreatePublicThreads) || has(permissions, Permission.CreatePrivateThreads);
  const privateKind = has(permissions, Permission.ManageThreads) ? "private" : "joined";
  const list = { channel, search };
  return (
    <>
      <div className="thread-tools">
        <SearchField
          label={text("thread.search")}
          icon={<Search size={16} aria-hidden="true" />}
          value={search}
          onChange={setSearch}
        />
        {mayCreate && (
          <Button kind="primary" onPress={onCreate}>
            <Plus size={16} aria-hidden="true" /> {text("thread.create")}
          </Button>
        )}
      </div>
      <Tabs className="thread-tabs">
        <TabList aria-label={text("thread.browse")} className="tabs">
          <Tab id="active" className="tab">
            {text("thread.tab.active")}
          </Tab>
          <Tab id="public" className="tab">
            {text("thread.tab.archived")}
          </Tab>
          {channel.type === ChannelType.GuildText && (
            <Tab id="private" className="tab">
              {text("thread.tab.private")}
            </Tab>
          )}
        </TabList>
        <TabPanel id="active">
          <ActiveThreads {...list} />
        </TabPanel>
        <TabPanel id="public">
          <ArchivedThreads {...list} kind="public" />
        </TabPanel>
        <TabPanel id="private">
          <ArchivedThreads {...list} kind={privateKind} />
        </TabPanel>
      </Tabs>
    </>
  );
}

interface ListProps {
  channel: APIChannel;
  search: string;
}

function ActiveThreads({ channel, search }: ListProps) {
  const text = useText();
  const channels = useAppState((state) => state.channels);
  const threads = useMemo(
    () =>
      threadsOf(channels, channel.id)
        .filter((thread) => !isArchived(thread))
        .sort((a, b) => compareIds(lastActivity(b), lastActivity(a))),
    [channels, channel.id],
  );
  if (threads.length === 0) {
    return <p className="channel-empty">{text("thread.none.active")}</p>;
  }
  return <ThreadList threads={threads} search={search} />;
}

function ArchivedThreads({ channel, search, kind }: ListProps & { kind: ArchivedKind }) {
  const text = useText();
  const errorText = useErrorText();
  const { api, store } = useSession();
  const channels = useAppState((state) => state.channels);
  const pages = useInfiniteQuery({
    queryKey: ["archivedThreads", channel.id, kind],
    queryFn: async ({ pageParam }) => {
      const page = await getArchivedThreads(api, channel.id, kind, pageParam);
      const threads = page.threads as APIThreadChannel[];
      store.update((state) => putThreads(state, threads, page.members));
      return page;
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => nextBefore(page, kind),
    staleTime: 0,
  });
  if (pages.isPending) {
    return <span className="skeleton thread-members-skeleton" />;
  }
  if (pages.isError) {
    return <p role="alert">{errorText(pages.error)}</p>;
  }
  // Threads that were opened again meanwhile are no longer archived.
  const threads = pages.data.pages
    .flatMap((page) => page.threads)
    .map((thread) => channels[thread.id] as APIThreadChannel | undefined)
    .filter((thread) => thread !== undefined && isArchived(thread));
  if (threads.length === 0) {
    return <p className="channel-empty">{text("thread.none.archived")}</p>;
  }
  return (
    <>
      <ThreadList threads={threads.filter((thread) => thread !== undefined)} search={search} />
      {pages.hasNextPage && (
        <Button isDisabled={pages.isFetchingNextPage} onPress={() => void pages.fetchNextPage()}>
          {text("thread.more")}
        </Button>
      )}
    </>
  );
}

/** Joined threads are paged by id, others by when they were archived. */
function nextBefore(page: ThreadPage, kind: ArchivedKind): string | undefined {
  const last = page.threads.at(-1) as APIThreadChannel | undefined;
  if (page.has_more !== true || last === undefined) {
    return undefined;
  }
  return kind === "joined" ? last.id : last.thread_metadata?.archive_timestamp;
}

function ThreadList({ threads, search }: { threads: readonly APIThreadChannel[]; search: string }) {
  const query = search.trim().toLocaleLowerCase();
  return (
    <ul className="thread-cards">
      {threads
        .filter((thread) => thread.name.toLocaleLowerCase().includes(query))
        .map((thread) => (
          <ThreadCard key={thread.id} thread={thread} />
        ))}
    </ul>
  );
}

function ThreadCard({ thread }: { thread: APIThreadChannel }) {
  const text = useText();
  const intl = useIntl();
  const open = useOpenThread();
  const guildId = guildIdOf(thread) ?? "";
  const owner = useAppState((state) => {
    const user = state.users[thread.owner_id ?? ""];
    return user === undefined ? null : displayName(state, user, guildId);
  });
  const unread = useAppState((state) => isUnread(state, thread));
  const [now] = useState(() => Date.now());
  return (
    <li>
      <AriaButton
        className={unread ? "thread-card channel-unread" : "thread-card"}
        onPress={() => open({ guildId, parentId: thread.parent_id ?? "", threadId: thread.id })}
      >
        {thread.type === ChannelType.PrivateThread || isLocked(thread) ? (
          <Lock size={18} aria-label={text(isLocked(thread) ? "thread.locked" : "thread.private")} />
        ) : (
          <Spool size={18} aria-hidden="true" />
        )}
        <span className="thread-card-text">
          <strong>{thread.name}</strong>
          <span className="field-hint">
            {owner !== null && (
              <>
                <Translate id="thread.by" values={{ name: owner }} /> ·{" "}
              </>
            )}
            {text("thread.messages", { count: thread.message_count ?? 0 })} ·{" "}
            {text("thread.activity", { time: relativeTime(intl, timeOfId(lastActivity(thread)), now) })}
          </span>
        </span>
      </AriaButton>
    </li>
  );
}
