import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";

import { Permission } from "../../api/enums";
import { acknowledgeMessage } from "../../api/messages";
import { useText } from "../../i18n/translate";
import { guildPermissions, has } from "../../store/permissions";
import { isUnread } from "../../store/reading";
import { overrideOf } from "../../store/settings";
import type { GuildState } from "../../store/state";
import { MenuAt, MenuItem, MenuSeparator, type Point } from "../../ui/Menu";
import { loaded } from "../../ui/loaded";
import { changeChannelSettings, type Mute } from "../notifications/mute";
import { MuteItems } from "../notifications/MuteItems";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";
import { moveInList } from "./arranging";
import { channelSettingsLink } from "./links";

const InviteDialog = loaded(() => import("../invites/InviteDialog"));
const NotificationDialog = loaded(() => import("../notifications/NotificationDialog"));

interface ChannelMenuProps {
  guild: GuildState;
  channelId: string;
  at: Point;
  onClose: () => void;
}

type Open = "menu" | "notifications" | "invite";

/** What can be done with a channel of the list, at the pointer. */
export default function ChannelMenu({ guild, channelId, at, onClose }: ChannelMenuProps) {
  const text = useText();
  const session = useSession();
  const action = useAction();
  const [open, setOpen] = useState<Open>("menu");
  // An item that opens a dialog closes the menu, not what shows both.
  const staysOpen = useRef(false);
  const show = (dialog: Open) => {
    staysOpen.current = true;
    setOpen(dialog);
  };
  const channel = useAppState((state) => state.channels[channelId]);
  const navigate = useNavigate();
  const permissions = useChannelPermissions(channel);
  const mayArrange = useAppState((state) =>
    has(guildPermissions(state, guild.id, state.user?.id ?? ""), Permission.ManageChannels),
  );
  const unread = useAppState((state) => channel !== undefined && isUnread(state, channel));
  const override = useAppState((state) => channel && overrideOf(state, channel));
  if (channel === undefined) {
    return null;
  }
  const newestId = "last_message_id" in channel ? channel.last_message_id : null;
  const mute = (changes: Mute) => changeChannelSettings(session, guild.id, channelId, changes);
  const copyLink = () =>
    navigator.clipboard.writeText(`${location.origin}/channels/${guild.id}/${channelId}`);
  return (
    <>
      {open === "menu" && (
        <MenuAt
          at={at}
          label={text("channel.menu", { name: channel.name ?? "" })}
          onClose={() => {
            if (!staysOpen.current) {
              onClose();
            }
          }}
        >
          {newestId && unread && (
            <MenuItem
              onAction={() => void action.run(() => acknowledgeMessage(session.api, channelId, newestId))}
            >
              {text("common.markRead")}
            </MenuItem>
          )}
          <MuteItems value={override} onChange={(changes) => void action.run(() => mute(changes))} />
          <MenuItem onAction={() => show("notifications")}>{text("settings.notifications")}</MenuItem>
          {has(permissions, Permission.CreateInstantInvite) && (
            <MenuItem onAction={() => show("invite")}>{text("guild.invite")}</MenuItem>
          )}
          <MenuItem onAction={() => void action.run(copyLink)}>{text("message.link")}</MenuItem>
          {has(permissions, Permission.ManageChannels) && (
            <MenuItem onAction={() => void navigate(channelSettingsLink(guild.id, channelId, undefined))}>
              {text("channel.edit", { name: channel.name ?? "" })}
            </MenuItem>
          )}
          {mayArrange && (
            <>
              <MenuSeparator />
              <MenuItem onAction={() => void action.run(() => moveInList(session, guild.id, channelId, -1))}>
                {text("channel.move.up")}
              </MenuItem>
              <MenuItem onAction={() => void action.run(() => moveInList(session, guild.id, channelId, 1))}>
                {text("channel.move.down")}
              </MenuItem>
            </>
          )}
        </MenuAt>
      )}
      {open === "notifications" && (
        <NotificationDialog guildId={guild.id} channel={channel} onClose={onClose} />
      )}
      {open === "invite" && <InviteDialog guild={guild} channelId={channelId} onClose={onClose} />}
    </>
  );
}
