import { useNavigate } from "@tanstack/react-router";
import { ChevronDown } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton } from "react-aria-components";

import { Permission } from "../../api/enums";
import { useText } from "../../i18n/translate";
import { guildPermissions, has } from "../../store/permissions";
import type { GuildState } from "../../store/state";
import { Dialog } from "../../ui/Dialog";
import { Menu, MenuAt, MenuItem, type Point } from "../../ui/Menu";
import { loaded } from "../../ui/loaded";
import { changeGuildSettings } from "../notifications/mute";
import { useAppState, useSession } from "../session/session";
import { hidden, isHidden, isNew } from "./beginning";
import { ChannelList } from "./ChannelList";
import { GuildItems } from "./GuildItems";

const ArrangeChannels = loaded(() => import("../channel_settings/ArrangeChannels"));
const ChannelForm = loaded(async () => ({
  default: (await import("../channel_settings/ChannelForm")).ChannelForm,
}));
const GettingStarted = loaded(() => import("./GettingStarted"));
const GuildProfile = loaded(() => import("../members/GuildProfile"));
const InviteDialog = loaded(() => import("../invites/InviteDialog"));
const LeaveDialog = loaded(() => import("./LeaveDialog"));
const NotificationDialog = loaded(() => import("../notifications/NotificationDialog"));

/** Each of these opens a section of the guild's settings. */
const SETTINGS_PERMISSIONS =
  Permission.ManageGuild |
  Permission.ManageRoles |
  Permission.KickMembers |
  Permission.BanMembers |
  Permission.ModerateMembers |
  Permission.ManageNicknames |
  Permission.ViewAuditLog |
  Permission.ManageWebhooks |
  Permission.CreateGuildExpressions |
  Permission.ManageGuildExpressions;

type Open = "profile" | "invite" | "channel" | "arrange" | "leave" | "notifications" | null;

/** A guild's menu and its channels. */
export function GuildSidebar({ guild }: { guild: GuildState }) {
  const text = useText();
  const navigate = useNavigate();
  const [open, setOpen] = useState<Open>(null);
  const [menuAt, setMenuAt] = useState<Point | null>(null);
  const session = useSession();
  const user = useAppState((state) => state.user);
  const permissions = useAppState((state) => guildPermissions(state, guild.id, state.user?.id ?? ""));
  const isOwner = guild.ownerId === user?.id;
  const flags = useAppState((state) => state.guildSettings[guild.id]?.flags ?? 0);
  const [now] = useState(() => Date.now());
  const hasSettings = (permissions & SETTINGS_PERMISSIONS) !== 0n;
  const items = (
    <>
      {has(permissions, Permission.CreateInstantInvite) && (
        <MenuItem onAction={() => setOpen("invite")}>{text("guild.invite")}</MenuItem>
      )}
      {has(permissions, Permission.ManageChannels) && (
        <MenuItem onAction={() => setOpen("channel")}>{text("channel.create")}</MenuItem>
      )}
      {has(permissions, Permission.ManageChannels) && (
        <MenuItem onAction={() => setOpen("arrange")}>{text("channel.arrange.open")}</MenuItem>
      )}
      {hasSettings && (
        <MenuItem
          onAction={() =>
            void navigate({
              to: "/app/guilds/$guildId/settings/{-$sectionId}/{-$itemId}",
              params: { guildId: guild.id },
            })
          }
        >
          {text("guild.settings")}
        </MenuItem>
      )}
      <MenuItem onAction={() => setOpen("profile")}>{text("guild.profile")}</MenuItem>
      <GuildItems guild={guild} onNotifications={() => setOpen("notifications")} />
      {!isOwner && (
        <MenuItem danger onAction={() => setOpen("leave")}>
          {text("guild.leave")}
        </MenuItem>
      )}
    </>
  );
  return (
    <>
      <div className="sidebar-header">
        <Menu
          label={text("guild.menu", { name: guild.name })}
          trigger={
            <AriaButton className="sidebar-title">
              <span dir="auto">{guild.name}</span>
              <ChevronDown size={16} aria-hidden="true" />
            </AriaButton>
          }
        >
          {items}
        </Menu>
      </div>
      {guild.unavailable && <p className="notice">{text("guild.unavailable")}</p>}
      {isOwner && isNew(guild.id, now) && !isHidden(flags) && (
        <GettingStarted
          guild={guild}
          onInvite={() => setOpen("invite")}
          onChannel={() => setOpen("channel")}
          onHide={() =>
            void changeGuildSettings(session, guild.id, { flags: hidden(flags) }).catch(() => undefined)
          }
        />
      )}
      <ChannelList key={guild.id} guild={guild} onEmptyPlace={setMenuAt} />
      {menuAt !== null && (
        <MenuAt at={menuAt} label={text("guild.menu", { name: guild.name })} onClose={() => setMenuAt(null)}>
          {items}
        </MenuAt>
      )}
      {open === "invite" && <InviteDialog guild={guild} onClose={() => setOpen(null)} />}
      {open === "channel" && (
        <Dialog title={text("channel.create.title")} onClose={() => setOpen(null)}>
          <ChannelForm guildId={guild.id} onDone={() => setOpen(null)} />
        </Dialog>
      )}
      {open === "arrange" && <ArrangeChannels guild={guild} onClose={() => setOpen(null)} />}
      {open === "profile" && <GuildProfile guild={guild} onClose={() => setOpen(null)} />}
      {open === "leave" && <LeaveDialog guild={guild} onClose={() => setOpen(null)} />}
      {open === "notifications" && (
        <NotificationDialog guildId={guild.id} channel={null} onClose={() => setOpen(null)} />
      )}
    </>
  );
}
