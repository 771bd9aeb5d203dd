import { Link, useNavigate, useParams, useRouter, useSearch } from "@tanstack/react-router";
import type { APIChannel, APIThreadChannel } from "discord-api-types/v10";
import { ChevronDown, ChevronRight, ListChecks, Rocket, Settings } from "lucide-react";
import {
  memo,
  startTransition,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  type MouseEvent,
} from "react";
import { Button as AriaButton } from "react-aria-components";
import { flushSync } from "react-dom";

import { Permission } from "../../api/enums";
import { useText } from "../../i18n/translate";
import { isActivityRunning } from "../../store/activities";
import { chosenChannels } from "../../store/channelChoice";
import { guildIdOf, isVoice } from "../../store/channels";
import { guildPermissions, has } from "../../store/permissions";
import { showsUnread } from "../../store/reading";
import { channelName, visibleChannelGroups, type ChannelGroup } from "../../store/selectors";
import type { GuildState } from "../../store/state";
import { listedThreads } from "../../store/threads";
import type { Point } from "../../ui/Menu";
import { loaded } from "../../ui/loaded";
import { useRovingFocus } from "../../ui/roving";
import { EventsRow } from "../events/EventsRow";
import { useAppState, useSession } from "../session/session";
import { useChannelPermissions } from "../session/usePermissions";
import { ThreadRows } from "../threads/ThreadRows";
import { JoinButton } from "../voice/JoinButton";
import { VoiceMembers } from "../voice/VoiceMembers";
import { ChannelIcon, ChannelSignTexts } from "../channels/ChannelIcon";
import { Mentions } from "../channels/Mentions";
import { useChannelSigns } from "../channels/useChannelSigns";
import { channelSettingsLink } from "../channel_settings/links";
import { useChannelDrag } from "./useChannelDrag";
import "../channels/channels.css";

const ChannelMenu = loaded(() => import("../channel_settings/ChannelMenu"));

const COLLAPSED = "moothall.collapsed.";

/** At least so many pixels has a row. */
const ROW_HEIGHT = 34;
/** So long rows out of sight wait: messages and members are drawn before them. */
const DELAY_MS = 1000;
/** Then they wait so long for a moment in which the page does nothing else. */
const MAX_IDLE_MS = 1000;

interface ChannelListProps {
  guild: GuildState;
  /** Called by a secondary press where there is nothing. */
  onEmptyPlace: (at: Point) => void;
}

/** The channels of a guild by category, with their threads and who is connected to them. */
export function ChannelList({ guild, onEmptyPlace }: ChannelListProps) {
  const text = useText();
  const list = useRef<HTMLElement>(null);
  const { maxRows, drawAll } = useMaxRows();
  useRovingFocus(list, drawAll);
  const { store, gateway } = useSession();
  const sessionId = useAppState((state) => state.sessionId);
  const channels = useAppState((state) => state.channels);
  const members = useAppState((state) => state.members[guild.id]);
  const preview = useAppState((state) => state.rolePreview);
  const settings = useAppState((state) => state.guildSettings[guild.id]);
  const groups = useMemo(
    () => chosenChannels(store.state, guild.id, visibleChannelGroups(store.state, guild.id)),
    // The groups depend on these parts of the state.
    // eslint-disable-next-line react-hooks/exhaustive-deps
    [store, guild, channels, members, preview, settings],
  );
  const { channelId }: { channelId?: string } = useParams({ strict: false });
  const { thread: besideId }: { thread?: string } = useSearch({ strict: false });
  const threads = useMemo(
    () => listedThreads(channels, guild.id, [channelId, besideId]),
    [channels, guild.id, channelId, besideId],
  );
  const [menu, setMenu] = useState<{ channelId: string; at: Point } | null>(null);
  // One for all rows, of which there may be hundreds.
  const openMenu = (event: MouseEvent) => {
    const row = (event.target as Element).closest<HTMLElement>("[data-channel]");
    if (row?.dataset["channel"] !== undefined) {
      event.preventDefault();
      setMenu({ channelId: row.dataset["channel"], at: { left: event.clientX, top: event.clientY } });
    } else if ((event.target as Element).closest("a, button") === null) {
      event.preventDefault();
      onEmptyPlace({ left: event.clientX, top: event.clientY });
    }
  };
  const [moved, setMoved] = useState<string | null>(null);
  const mayArrange = useAppState((state) =>
    has(guildPermissions(state, guild.id, state.user?.id ?? ""), Permission.ManageChannels),
  );
  const drag = useChannelDrag({
    guildId: guild.id,
    isEnabled: mayArrange && preview === null,
    onMoved: (id) => {
      const channel = store.state.channels[id];
      setMoved(channel === undefined ? null : channelName(store.state, channel));
    },
  });
  const navigate = useNavigate();
  const open = useCallback(
    (openedId: string) =>
      void navigate({
        to: "/channels/$guildId/$channelId",
        params: { guildId: guild.id, channelId: openedId },
      }),
    [navigate, guild.id],
  );
  useEffect(() => {
    // No channel object has the statuses of voice channels; a new session asks again.
    gateway.send({ type: "channelInfo", data: { guild_id: guild.id, fields: ["status"] } });
  }, [gateway, guild.id, sessionId]);
  return (
    // The menu of a row's link comes from the link, which has the focus.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <nav
      ref={list}
      className="channels"
      aria-label={text("channel.list")}
      onScroll={drawAll}
      onContextMenu={openMenu}
      {...drag}
    >
      <span className="visually-hidden" role="status">
        {moved === null ? "" : text("channel.moved", { name: moved })}
      </span>
      {guild.features.includes("COMMUNITY") && (
        <Link to="/channels/$guildId/customize" params={{ guildId: guild.id }} className="channel-row">
          <ListChecks size={18} className="channel-icon" aria-hidden="true" />
          <span className="channel-name">{text("guild.customize")}</span>
        </Link>
      )}
      <EventsRow guildId={guild.id} />
      {groups.length === 0 && <p className="channel-empty">{text("channel.none")}</p>}
      {firstRows(groups, maxRows).map((group) => (
        <Group
          key={group.category?.id ?? "none"}
          group={group}
          guildId={guild.id}
          threads={threads}
          channelId={channelId}
          besideId={besideId}
          onOpen={open}
          mayArrange={mayArrange}
        />
      ))}
      {menu !== null && <ChannelMenu guild={guild} {...menu} onClose={() => setMenu(null)} />}
    </nav>
  );
}

/**
 * How many rows to draw: first those that fit into the window, then all. A guild may have hundreds of channels.
 * `drawAll` draws them at once.
 */
function useMaxRows(): { maxRows: number; drawAll: () => void } {
  const [maxRows, setMaxRows] = useState(() => Math.ceil(window.innerHeight / ROW_HEIGHT));
  useEffect(() => {
    const drawLater = () => startTransition(() => setMaxRows(Infinity));
    let request: number | null = null;
    const timer = setTimeout(() => {
      if ("requestIdleCallback" in window) {
        request = requestIdleCallback(drawLater, { timeout: MAX_IDLE_MS });
      } else {
        drawLater();
      }
    }, DELAY_MS);
    return () => {
      clearTimeout(timer);
      if (request !== null) {
        cancelIdleCallback(request);
      }
    };
  }, []);
  const drawAll = useCallback(() => flushSync(() => setMaxRows(Infinity)), []);
  return { maxRows, drawAll };
}

function firstRows(groups: readonly ChannelGroup[], max: number): readonly ChannelGroup[] {
  if (max === Infinity) {
    return groups;
  }
  const first: ChannelGroup[] = [];
  let left = max;
  for (const { category, channels } of groups) {
    if (left <= 0) {
      break;
    }
    first.push({ category, channels: channels.slice(0, left) });
    left -= channels.length + 1;
  }
  return first;
}

interface GroupProps {
  group: ChannelGroup;
  guildId: string;
  /** The threads to list, by channel. */
  threads: ReadonlyMap<string, APIThreadChannel[]>;
  /** The channel that is shown. */
  channelId: string | undefined;
  besideId: string | undefined;
  onOpen: (channelId: string) => void;
  /** Whether the user may move the category. */
  mayArrange: boolean;
}

function Group({ group, guildId, threads, channelId, besideId, onOpen, mayArrange }: GroupProps) {
  const text = useText();
  const key = COLLAPSED + (group.category?.id ?? "");
  const [collapsed, setCollapsed] = useState(() => localStorage.getItem(key) !== null);
  const toggle = () => {
    if (collapsed) {
      localStorage.removeItem(key);
    } else {
      localStorage.setItem(key, "1");
    }
    setCollapsed(!collapsed);
  };
  const name = group.category && "name" in group.category ? (group.category.name ?? "") : "";
  const list = (
    <ul>
      {group.channels.map((channel) => (
        <ChannelRow
          key={channel.id}
          channel={channel}
          guildId={guildId}
          threads={threads.get(channel.id)}
          isShown={channel.id === channelId}
          besideId={besideId}
          onOpen={onOpen}
        />
      ))}
    </ul>
  );
  if (group.category === null) {
    return list;
  }
  return (
    <section>
      <h2 className="category channel-line" data-category={group.category.id} draggable={mayArrange}>
        <AriaButton
          className="category-button"
          aria-expanded={!collapsed}
          aria-label={text("channel.category.collapse", { name })}
          onPress={toggle}
        >
          {collapsed ? <ChevronRight size={12} /> : <ChevronDown size={12} />}
          <span className="category-name" dir="auto">
            {name}
          </span>
        </AriaButton>
        <EditButton channel={group.category} name={name} />
      </h2>
      {!collapsed && list}
    </section>
  );
}

interface ChannelRowProps {
  channel: APIChannel;
  guildId: string;
  threads: readonly APIThreadChannel[] | undefined;
  isShown: boolean;
  besideId: string | undefined;
  onOpen: (channelId: string) => void;
}

/**
 * Drawn again when its channel changes, not whenever another one of hundreds is opened. Its controls are those of the
 * document: a link of the router and a button of the library each cost more than all else in the row.
 */
const ChannelRow = memo(function ChannelRow(props: ChannelRowProps) {
  const { channel, guildId, threads, isShown, besideId, onOpen } = props;
  const text = useText();
  const name = "name" in channel ? (channel.name ?? "") : "";
  const unread = useAppState((state) => showsUnread(state, channel));
  const hasActivity = useAppState((state) => isActivityRunning(state, channel.id));
  const signs = useChannelSigns(channel);
  return (
    <li>
      <div className="channel-line">
        <a
          data-channel={channel.id}
          href={`/channels/${guildId}/${channel.id}`}
          className={["channel-row", unread && "channel-unread", isShown && "active"]
            .filter(Boolean)
            .join(" ")}
          aria-current={isShown ? "page" : undefined}
          onClick={(event) => {
            if (opensHere(event)) {
              event.preventDefault();
              onOpen(channel.id);
            }
          }}
        >
          <ChannelIcon type={channel.type} signs={signs} />
          <span className="channel-name" dir="auto">
            {name}
          </span>
          <ChannelSignTexts signs={signs} />
          {hasActivity && (
            <>
              <Rocket size={14} className="channel-activity" aria-hidden="true" />
              <span className="visually-hidden">{text("channel.hasActivity")}</span>
            </>
          )}
          {unread && <span className="visually-hidden">{text("channel.unread")}</span>}
          <Mentions channelIds={[channel.id]} />
        </a>
        {isVoice(channel) && <JoinButton channel={channel} guildId={guildId} />}
        <EditButton channel={channel} name={name} />
      </div>
      {isVoice(channel) && <VoiceMembers channelId={channel.id} guildId={guildId} />}
      {threads !== undefined && <ThreadRows guildId={guildId} threads={threads} besideId={besideId} />}
    </li>
  );
});

/** Whether a click on a link is for this page, not for another tab or window. */
function opensHere({ button, altKey, ctrlKey, metaKey, shiftKey }: MouseEvent): boolean {
  return button === 0 && !altKey && !ctrlKey && !metaKey && !shiftKey;
}

/** Leads to a channel's settings; shown to those who may change them. The document's own, as hundreds of rows have it. */
function EditButton({ channel, name }: { channel: APIChannel; name: string }) {
  const text = useText();
  const router = useRouter();
  const mayEdit = has(useChannelPermissions(channel), Permission.ManageChannels);
  const guildId = guildIdOf(channel);
  return mayEdit && guildId !== null ? (
    <button
      type="button"
      className="channel-edit"
      data-beside
      aria-label={text("channel.edit", { name })}
      onClick={() => void router.navigate(channelSettingsLink(guildId, channel.id, undefined))}
    >
      <Settings size={15} aria-hidden="true" />
    </button>
  ) : null;
}
