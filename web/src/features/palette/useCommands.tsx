import { useNavigate } from "@tanstack/react-router";
import {
  Bell,
  BellOff,
  CheckCheck,
  Circle,
  Compass,
  FolderPlus,
  Hash,
  Headphones,
  Inbox,
  Keyboard,
  Link as LinkIcon,
  LogOut,
  MicOff,
  MonitorDown,
  Pin,
  Plus,
  Rocket,
  Search,
  Settings,
  Spool,
  UserPlus,
  Users,
  UserRoundCog,
  type LucideIcon,
} from "lucide-react";
import { useEffect, useRef, type ReactNode } from "react";

import { ChannelType, Permission } from "../../api/enums";
import { acknowledgeGuild } from "../../api/joining";
import { acknowledgeMessage } from "../../api/messages";
import { useText } from "../../i18n/translate";
import { guildIdOf, isForum, isThread } from "../../store/channels";
import { channelPermissions, guildPermissions, has } from "../../store/permissions";
import { channelName } from "../../store/selectors";
import { isChannelMuted } from "../../store/settings";
import { Dialog } from "../../ui/Dialog";
import { loaded } from "../../ui/loaded";
import { getVoiceStatus, toggleSelfDeaf, toggleSelfMute } from "../../voice/status";
import { channelSettingsLink } from "../channel_settings/links";
import { settingsLink } from "../guild_settings/links";
import { visibleGroups } from "../guild_settings/sections";
import { getKeybinds } from "../keybinds/keybinds";
import type { ShortcutId } from "../keybinds/shortcuts";
import { changeChannelSettings, muteFor, UNMUTED } from "../notifications/mute";
import { setOverlays } from "../overlays/overlays";
import { openPanel, showMembers, useShowsMembers, type Panel } from "../overlays/panels";
import { useSession } from "../session/session";
import { usePath } from "../session/usePath";
import { changeSettings } from "../session/useSettings";
import { GROUPS } from "../settings/sections";
import { canInstall, install } from "../preferences/install";
import { rememberScreen } from "../shell/returnPath";
import type { Command } from "../switcher/command";
import { STATUSES } from "../users/statuses";

const ArrangeChannels = loaded(() => import("../channel_settings/ArrangeChannels"));
const ChannelForm = loaded(async () => ({
  default: (await import("../channel_settings/ChannelForm")).ChannelForm,
}));
const GuildProfile = loaded(() => import("../members/GuildProfile"));
const InviteDialog = loaded(() => import("../invites/InviteDialog"));
const LeaveDialog = loaded(() => import("../guilds/LeaveDialog"));
const NotificationDialog = loaded(() => import("../notifications/NotificationDialog"));

const HAS_THREADS: ReadonlySet<ChannelType> = new Set([ChannelType.GuildText, ChannelType.GuildAnnouncement]);

/** What a command does without asking. */
type Act = () => unknown;

/** Collects what can be done where the user is: in the channel and the guild that are open, and everywhere. */
export function useCommands(onCollect: (commands: readonly Command[]) => void): void {
  const text = useText();
  const session = useSession();
  const navigate = useNavigate();
  const path = usePath();
  const showsMembers = useShowsMembers();
  const isCollected = useRef(false);
  function collect(): Command[] {
    const { api, store, account } = session;
    const { state } = store;
    const keybinds = getKeybinds(account.userId);
    const guild = path.guildId === undefined ? undefined : state.guilds[path.guildId];
    const channel = path.channelId === undefined ? undefined : state.channels[path.channelId];
    const commands: Command[] = [];
    const add = (
      id: string,
      Icon: LucideIcon,
      label: string,
      detail: string,
      act: Act,
      shortcut: ShortcutId | null = null,
    ) => {
      const perform = () => {
        act();
        return null;
      };
      const keys = shortcut === null ? null : keybinds[shortcut];
      commands.push({ id, Icon, label, detail, keys, perform });
    };
    const ask = (
      id: string,
      Icon: LucideIcon,
      label: string,
      detail: string,
      dialog: (close: () => void) => ReactNode,
    ) => commands.push({ id, Icon, label, detail, keys: null, perform: dialog });
    const quietly = (request: Promise<unknown>) => void request.catch(() => undefined);

    if (channel !== undefined) {
      const name = channelName(state, channel);
      const guildId = guildIdOf(channel);
      const permissions = channelPermissions(state, channel, account.userId);
      const panel = (id: string, Icon: LucideIcon, label: string, shown: Panel, keys?: ShortcutId) =>
        add(`panel ${id}`, Icon, label, name, () => openPanel(shown), keys);
      panel("search", Search, text("search.title"), { kind: "search" }, "search");
      if (!isForum(channel)) {
        panel("pins", Pin, text("channel.pins"), { kind: "pins", threadId: null });
      }
      if (HAS_THREADS.has(channel.type)) {
        panel("threads", Spool, text("thread.browse"), { kind: "threads" });
      }
      if (!isForum(channel) && (guildId === null || has(permissions, Permission.UseEmbeddedActivities))) {
        panel("activities", Rocket, text("channel.activities"), { kind: "activities", threadId: null });
      }
      if (guildId !== null) {
        const members = showsMembers ? "switcher.command.members.hide" : "switcher.command.members.show";
        add("members", Users, text(members), name, () => showMembers(!showsMembers));
      }
      const newestId = "last_message_id" in channel ? channel.last_message_id : null;
      if (newestId) {
        add(
          "read channel",
          CheckCheck,
          text("common.markRead"),
          name,
          () => quietly(acknowledgeMessage(api, channel.id, newestId)),
          "markRead",
        );
      }
      add("copy link", LinkIcon, text("message.link"), name, () =>
        quietly(
          navigator.clipboard.writeText(`${location.origin}/channels/${guildId ?? "@me"}/${channel.id}`),
        ),
      );
      if (!isThread(channel)) {
        const muted = isChannelMuted(state, channel, Date.now());
        add(
          "mute channel",
          muted ? Bell : BellOff,
          text(muted ? "switcher.command.unmute" : "switcher.command.mute"),
          name,
          () =>
            quietly(
              changeChannelSettings(
                session,
                guildId ?? "@me",
                channel.id,
                muted ? UNMUTED : muteFor(null, Date.now()),
              ),
            ),
        );
      }
      if (guild !== undefined && !isThread(channel)) {
        ask("notify channel", Bell, text("settings.notifications"), name, (close) => (
          <NotificationDialog guildId={guild.id} channel={channel} onClose={close} />
        ));
        if (has(permissions, Permission.CreateInstantInvite)) {
          ask("invite channel", UserPlus, text("guild.invite"), name, (close) => (
            <InviteDialog guild={guild} channelId={channel.id} onClose={close} />
          ));
        }
        if (has(permissions, Permission.ManageChannels)) {
          add("settings channel", Settings, text("channel.edit", { name }), guild.name, () =>
            navigate(channelSettingsLink(guild.id, channel.id, "overview")),
          );
        }
      }
    }

    if (guild !== undefined) {
      const permissions = guildPermissions(state, guild.id, account.userId);
      if (has(permissions, Permission.CreateInstantInvite)) {
        ask("invite", UserPlus, text("guild.invite"), guild.name, (close) => (
          <InviteDialog guild={guild} onClose={close} />
        ));
      }
      if (has(permissions, Permission.ManageChannels)) {
        ask("create channel", Hash, text("channel.create"), guild.name, (close) => (
          <Dialog title={text("channel.create.title")} onClose={close}>
            <ChannelForm guildId={guild.id} onDone={close} />
          </Dialog>
        ));
        ask("arrange", FolderPlus, text("channel.arrange.open"), guild.name, (close) => (
          <ArrangeChannels guild={guild} onClose={close} />
        ));
      }
      ask("guild profile", UserRoundCog, text("guild.profile"), guild.name, (close) => (
        <GuildProfile guild={guild} onClose={close} />
      ));
      ask("notify guild", Bell, text("settings.notifications"), guild.name, (close) => (
        <NotificationDialog guildId={guild.id} channel={null} onClose={close} />
      ));
      add("read guild", CheckCheck, text("common.markRead"), guild.name, () =>
        quietly(acknowledgeGuild(api, guild.id)),
      );
      if (guild.ownerId !== account.userId) {
        ask("leave", LogOut, text("guild.leave"), guild.name, (close) => (
          <LeaveDialog guild={guild} onClose={close} />
        ));
      }
      for (const section of visibleGroups(permissions).flatMap(({ sections }) => sections)) {
        add(
          `guild ${section.id}`,
          Settings,
          text(section.title),
          `${text("guild.settings")} · ${guild.name}`,
          () => navigate(settingsLink(guild.id, section.id)),
        );
      }
    }

    const you = text("switcher.command.account");
    add("inbox", Inbox, text("inbox.title"), you, () => openPanel({ kind: "inbox" }));
    add("friends", Users, text("friends.title"), you, () => navigate({ to: "/channels/@me/friends" }));
    add("discover", Compass, text("guild.discover"), you, () =>
      navigate({ to: "/app/discover/{-$guildId}", params: { guildId: undefined } }),
    );
    add("add guild", Plus, text("guild.create"), you, () =>
      setTimeout(() => setOverlays({ dialog: "addGuild" })),
    );
    add(
      "shortcuts",
      Keyboard,
      text("shortcut.title"),
      you,
      () => setTimeout(() => setOverlays({ dialog: "shortcuts" })),
      "shortcuts",
    );
    if (getVoiceStatus().phase !== null) {
      add("voice mute", MicOff, text("shortcut.mute"), you, toggleSelfMute, "mute");
      add("voice deafen", Headphones, text("shortcut.deafen"), you, toggleSelfDeaf, "deafen");
    }
    for (const [status, id] of STATUSES) {
      add(`status ${status}`, Circle, text("switcher.command.status", { status: text(id) }), you, () =>
        quietly(changeSettings(session, { status })),
      );
    }
    for (const section of GROUPS.flatMap(({ sections }) => sections)) {
      add(`settings ${section.id}`, Settings, text(section.title), text("settings.title"), () => {
        rememberScreen();
        void navigate({ to: "/app/settings/{-$sectionId}", params: { sectionId: section.id } });
      });
    }
    if (canInstall()) {
      add("install", MonitorDown, text("user.install"), you, () => quietly(install()));
    }
    add("log out", LogOut, text("settings.logOut"), you, () => quietly(session.logOut()));
    return commands;
  }

  useEffect(() => {
    // Once for each time that it opens: what is listed must not change under the fingers.
    if (isCollected.current) {
      return;
    }
    isCollected.current = true;
    onCollect(collect());
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
}
