import { ChannelType } from "../../api/enums";
import { Navigate, useNavigate } from "@tanstack/react-router";
import type { APIChannel } from "discord-api-types/v10";
import { ArrowLeft } from "lucide-react";
import { useEffect, useState } from "react";

import { Translate, useText } from "../../i18n/translate";
import { isThread } from "../../store/channels";
import { isMessageRequest } from "../../store/messageRequests";
import { channelName, visibleChannelGroups } from "../../store/selectors";
import { IconButton } from "../../ui/controls";
import { loaded } from "../../ui/loaded";
import { ChannelView } from "../channel_view/ChannelView";
import { useChannel } from "../channels/useChannel";
import { DirectMenu, DirectSidebar } from "../direct/DirectSidebar";
import { GuildSidebar } from "../guilds/GuildSidebar";
import { hasJustArrived } from "../joining/arrival";
import { useAppState, useDerived, useSession } from "../session/session";
import "../members/members.css";
import { showMembers, useShowsMembers } from "../overlays/panels";
import { noteChannel } from "../switcher/recents";
import { keepLastScreen, lastChannel, lastScreen, reachablePath } from "./lastScreen";
import { Panes } from "./Shell";
import { SidePanels } from "./SidePanels";

const Arrival = loaded(() => import("../joining/Arrival"));
const Customize = loaded(() => import("../joining/Customize"));
const MessageRequests = loaded(() => import("../direct/MessageRequests"));
const RequestBar = loaded(async () => ({
  default: (await import("../direct/MessageRequests")).RequestBar,
}));
const FriendsPage = loaded(() => import("../friends/FriendsPage"));

interface GuildScreenProps {
  guildId: string;
  channelId: string | null;
  messageId: string | null;
  /** The thread that is open beside the channel. */
  threadId: string | null;
}

/** A guild with one of its channels. */
export function GuildScreen({ guildId, channelId, messageId, threadId }: GuildScreenProps) {
  const guild = useAppState((state) => state.guilds[guildId]);
  const loading = useAppState((state) => state.loadingGuilds.includes(guildId));
  const channel = useChannel(guildId, channelId);
  const thread = useChannel(guildId, threadId);
  const isPending = useAppState((state) => state.members[guildId]?.[state.user?.id ?? ""]?.pending === true);
  const greets = isPending || hasJustArrived(guildId);
  const showsMembers = useShowsMembers();
  const userId = useSession().account.userId;
  const isKnown = guild !== undefined && (channelId === null || Boolean(channel));
  useEffect(() => {
    if (isKnown) {
      keepLastScreen(userId, guildId, channelId);
      if (channelId !== null) {
        noteChannel(userId, channelId);
      }
    }
  }, [userId, guildId, channelId, isKnown]);
  if (guild === undefined) {
    return <NoGuild loading={loading} />;
  }
  return (
    <Panes label={guild.name} sidebar={<GuildSidebar guild={guild} />} showsMain={channelId !== null}>
      {channelId === null ? (
        <FirstChannel guildId={guildId} />
      ) : (
        <main id="main" className="main">
          {!channel ? (
            <p className="channel-empty">
              <Translate id={channel === null ? "channel.none" : "app.loading"} />
            </p>
          ) : (
            <>
              <BackButton guildId={guildId} />
              {greets && <Arrival guild={guild} />}
              <ChannelView
                channel={channel}
                targetId={messageId}
                hasThread={Boolean(thread)}
                onToggleMembers={() => showMembers(!showsMembers)}
              />
            </>
          )}
        </main>
      )}
      <SidePanels
        guild={guild}
        channel={channel ?? null}
        thread={channel && thread && isThread(thread) ? thread : null}
      />
    </Panes>
  );
}

/** Leads to the channel that was read last, else to the first one; on narrow screens the list stays. */
function FirstChannel({ guildId }: { guildId: string }) {
  const { account } = useSession();
  const narrow = !matchMedia("(min-width: 720px)").matches;
  const channels = useDerived((state) =>
    visibleChannelGroups(state, guildId).flatMap((group) => group.channels),
  );
  const last = lastChannel(account.userId, guildId);
  const isReadable = (channel: APIChannel) =>
    channel.type === ChannelType.GuildText || channel.type === ChannelType.GuildAnnouncement;
  const channel = channels.find((each) => each.id === last) ?? channels.find(isReadable);
  if (narrow || channel === undefined) {
    return (
      <main id="main" className="main main-empty">
        <p className="channel-empty">
          <Translate id="channel.none" />
        </p>
      </main>
    );
  }
  return <Navigate to="/channels/$guildId/$channelId" params={{ guildId, channelId: channel.id }} replace />;
}

/** Leads to what the account had open last on this device. */
export function LastScreen() {
  const { account, store } = useSession();
  const [path] = useState(() => reachablePath(store.state, lastScreen(account.userId)));
  return <Navigate to={path} replace />;
}

/** The page of a guild's questions and channels. */
export function CustomizeScreen({ guildId }: { guildId: string }) {
  const guild = useAppState((state) => state.guilds[guildId]);
  const loading = useAppState((state) => state.loadingGuilds.includes(guildId));
  if (guild === undefined) {
    return <NoGuild loading={loading} />;
  }
  return (
    <Panes label={guild.name} sidebar={<GuildSidebar guild={guild} />} showsMain>
      <main id="main" className="main">
        <BackButton guildId={guildId} />
        <Customize guild={guild} />
      </main>
    </Panes>
  );
}

/** Stands for a guild until it arrives; leads away from one that the user is not in. */
function NoGuild({ loading }: { loading: boolean }) {
  return loading ? (
    <main id="main" className="page" aria-busy="true">
      <Translate id="app.loading" />
    </main>
  ) : (
    <Navigate to="/channels/@me" replace />
  );
}

interface DirectScreenProps {
  channelId: string | null;
  messageId: string | null;
  /** On narrow screens, show the friends page instead of the list of conversations. */
  showsFriends?: boolean;
  /** Show the message requests of strangers. */
  showsRequests?: boolean;
}

/** Direct messages; without a channel the friends page. */
export function DirectScreen(props: DirectScreenProps) {
  const { channelId, messageId, showsFriends = false, showsRequests = false } = props;
  const text = useText();
  const channel = useAppState((state) => (channelId === null ? undefined : state.channels[channelId]));
  const userId = useSession().account.userId;
  useEffect(() => {
    keepLastScreen(userId, null, channelId);
    if (channelId !== null) {
      noteChannel(userId, channelId);
    }
  }, [userId, channelId]);
  return (
    <Panes
      label={text("direct.title")}
      sidebar={<DirectSidebar />}
      showsMain={channelId !== null || showsFriends || showsRequests}
    >
      <main id="main" className="main">
        <BackButton guildId={null} />
        {showsRequests ? (
          <MessageRequests />
        ) : channelId === null ? (
          <FriendsPage />
        ) : (
          <DirectChannel channelId={channelId} messageId={messageId} />
        )}
      </main>
      <SidePanels guild={null} channel={channel ?? null} thread={null} />
    </Panes>
  );
}

function DirectChannel({ channelId, messageId }: { channelId: string; messageId: string | null }) {
  const channel = useAppState((state) => state.channels[channelId]);
  const name = useAppState((state) => (channel === undefined ? "" : channelName(state, channel)));
  return channel === undefined ? (
    <p className="channel-empty">
      <Translate id="channel.none" />
    </p>
  ) : (
    <>
      {isMessageRequest(channel) && <RequestBar channel={channel} />}
      <ChannelView
        channel={channel}
        targetId={messageId}
        onToggleMembers={null}
        actions={<DirectMenu channel={channel} name={name} />}
      />
    </>
  );
}

/** On narrow screens, from a channel back to the list. */
function BackButton({ guildId }: { guildId: string | null }) {
  const text = useText();
  const navigate = useNavigate();
  return (
    <span className="back">
      <IconButton
        label={text("common.back")}
        onPress={() =>
          void (guildId === null
            ? navigate({ to: "/channels/@me" })
            : navigate({ to: "/channels/$guildId", params: { guildId } }))
        }
      >
        <ArrowLeft size={20} />
      </IconButton>
    </span>
  );
}
