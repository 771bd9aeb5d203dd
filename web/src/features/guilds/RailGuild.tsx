import { Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { Focusable, Tooltip, TooltipTrigger } from "react-aria-components";

import { Permission } from "../../api/enums";
import { guildIconUrl } from "../../api/images";
import { useText } from "../../i18n/translate";
import { createFolder, dropEntry, leaveFolder, moveEntry } from "../../store/folders";
import { channelPermissions, has } from "../../store/permissions";
import { showsUnread } from "../../store/reading";
import { guildIdOf } from "../../store/channels";
import type { GuildState } from "../../store/state";
import { Avatar } from "../../ui/controls";
import { ContextMenu, MenuItem, MenuSeparator } from "../../ui/Menu";
import { loaded } from "../../ui/loaded";
import { Mentions } from "../channels/Mentions";
import { useAppState, useSession } from "../session/session";
import { GuildItems } from "./GuildItems";
import { newFolderId, type Rail } from "./rail";
import { useDrag } from "./useDrag";

const NotificationDialog = loaded(() => import("../notifications/NotificationDialog"));
const LeaveDialog = loaded(() => import("./LeaveDialog"));

interface RailGuildProps {
  guild: GuildState;
  rail: Rail;
}

/** A guild of the rail: a link, dragged to another place, with a menu. */
export function RailGuild({ guild, rail }: RailGuildProps) {
  const text = useText();
  const key = `guild ${guild.id}`;
  const drag = useDrag(key, rail);
  const [open, setOpen] = useState<"notifications" | "leave" | null>(null);
  const isOwner = useAppState((state) => state.user?.id === guild.ownerId);
  const close = () => setOpen(null);
  const { entries, change } = rail;
  const isInFolder = entries.some((entry) => entry.folder !== null && entry.guildIds.includes(guild.id));
  const folders = entries.flatMap((entry) => entry.folder ?? []);
  const menu = (
    <>
      <GuildItems guild={guild} onNotifications={() => setOpen("notifications")} />
      <MenuSeparator />
      <MenuItem onAction={() => change(moveEntry(entries, key, -1))}>{text("rail.up")}</MenuItem>
      <MenuItem onAction={() => change(moveEntry(entries, key, 1))}>{text("rail.down")}</MenuItem>
      {isInFolder ? (
        <MenuItem onAction={() => change(leaveFolder(entries, guild.id))}>
          {text("rail.leaveFolder")}
        </MenuItem>
      ) : (
        <>
          <MenuItem onAction={() => change(createFolder(entries, guild.id, newFolderId(entries)))}>
            {text("rail.newFolder")}
          </MenuItem>
          {folders.map((folder) => (
            <MenuItem
              key={folder.id}
              onAction={() => change(dropEntry(entries, key, `folder ${folder.id}`, "into", 0))}
            >
              {text("rail.toFolder", { name: folder.name ?? text("rail.folder") })}
            </MenuItem>
          ))}
        </>
      )}
      {!isOwner && (
        <MenuItem danger onAction={() => setOpen("leave")}>
          {text("guild.leave")}
        </MenuItem>
      )}
    </>
  );
  return (
    <li {...drag}>
      <ContextMenu label={text("guild.menu", { name: guild.name })} menu={menu}>
        <TooltipTrigger delay={300}>
          <Focusable>
            <Link
              to="/channels/$guildId"
              params={{ guildId: guild.id }}
              className={guild.unavailable ? "rail-item rail-item-unavailable" : "rail-item"}
              draggable={false}
            >
              <span className="visually-hidden">{guild.name}</span>
              <Avatar url={guildIconUrl(guild.id, guild.icon, 44)} name={guild.name} size={44} tile />
              <GuildMentions guildId={guild.id} />
            </Link>
          </Focusable>
          <Tooltip className="tooltip" placement="end" offset={8}>
            {guild.name}
          </Tooltip>
        </TooltipTrigger>
      </ContextMenu>
      {open === "notifications" && <NotificationDialog guildId={guild.id} channel={null} onClose={close} />}
      {open === "leave" && <LeaveDialog guild={guild} onClose={close} />}
    </li>
  );
}

/** Whether a guild has unread messages, and how many of them mention the user. */
function GuildMentions({ guildId }: { guildId: string }) {
  const text = useText();
  const channels = useAppState((state) => state.channels);
  const { store } = useSession();
  const own = useMemo(
    () => Object.values(channels).filter((channel) => guildIdOf(channel) === guildId),
    [channels, guildId],
  );
  const unread = useAppState((state) => {
    const userId = state.user?.id ?? "";
    return own.some(
      (channel) =>
        showsUnread(state, channel) &&
        has(channelPermissions(store.state, channel, userId), Permission.ViewChannel),
    );
  });
  return (
    <>
      {unread && (
        <span className="rail-unread">
          <span className="visually-hidden">{text("channel.unread")}</span>
        </span>
      )}
      <Mentions channelIds={own.map((channel) => channel.id)} />
    </>
  );
}
