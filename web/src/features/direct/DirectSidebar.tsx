import { Link, useNavigate } from "@tanstack/react-router";
import type { APIChannel } from "discord-api-types/v10";
import { MailQuestionMark, MoreVertical, Phone, Plus, Users } from "lucide-react";
import { useRef, useState } from "react";

import { groupIconUrl } from "../../api/images";
import { acknowledgeMessage } from "../../api/messages";
import { closeDirectMessage } from "../../api/relationships";
import { useText } from "../../i18n/translate";
import { showsUnread } from "../../store/reading";
import { incomingRequestCount } from "../../store/relationships";
import { channelName, directMessages, messageRequests } from "../../store/selectors";
import { isChannelMuted, overrideOf } from "../../store/settings";
import { Avatar, IconButton } from "../../ui/controls";
import { Menu, MenuItem } from "../../ui/Menu";
import { loaded } from "../../ui/loaded";
import { useRovingFocus } from "../../ui/roving";
import { Mentions } from "../channels/Mentions";
import { Activity, PresenceAvatar } from "../users/PresenceAvatar";
import { changeChannelSettings, type Mute } from "../notifications/mute";
import { MuteItems } from "../notifications/MuteItems";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import type { GroupDialogName } from "./GroupDialogs";
import { isGroup, recipientsOf } from "./recipients";
import "./groups.css";

const GroupDialog = loaded(() => import("./GroupDialogs"));

/** The user's friends and direct messages. */
export function DirectSidebar() {
  const text = useText();
  const list = useRef<HTMLElement>(null);
  useRovingFocus(list);
  const channels = useAppState(directMessages);
  const requests = useAppState(incomingRequestCount);
  const strangers = useAppState((state) => messageRequests(state).length);
  const [creating, setCreating] = useState(false);
  return (
    <>
      <div className="sidebar-header">
        <h1 className="sidebar-title">{text("direct.title")}</h1>
        <IconButton label={text("direct.group.create")} onPress={() => setCreating(true)}>
          <Plus size={18} />
        </IconButton>
      </div>
      <nav ref={list} className="channels" aria-label={text("direct.list")}>
        <ul>
          <li>
            <Link to="/channels/@me/friends" className="channel-row">
              <Users size={18} className="channel-icon" aria-hidden="true" />
              <span className="channel-name">{text("friends.title")}</span>
              {requests > 0 && (
                <span
                  className="mentions"
                  role="img"
                  aria-label={text("friends.requests", { count: requests })}
                >
                  {requests}
                </span>
              )}
            </Link>
          </li>
          {strangers > 0 && (
            <li>
              <Link to="/channels/@me/requests" className="channel-row">
                <MailQuestionMark size={18} className="channel-icon" aria-hidden="true" />
                <span className="channel-name">{text("requests.title")}</span>
                <span
                  className="mentions"
                  role="img"
                  aria-label={text("requests.count", { count: strangers })}
                >
                  {strangers}
                </span>
              </Link>
            </li>
          )}
        </ul>
        {channels.length === 0 && <p className="channel-empty">{text("direct.none")}</p>}
        <ul>
          {channels.map((channel) => (
            <DirectRow key={channel.id} channel={channel} />
          ))}
        </ul>
      </nav>
      {creating && <GroupDialog name="create" channel={null} onClose={() => setCreating(false)} />}
    </>
  );
}

function DirectRow({ channel }: { channel: APIChannel }) {
  const text = useText();
  const hasCall = useAppState((state) => state.calls[channel.id] !== undefined);
  const name = useAppState((state) => channelName(state, channel));
  const unread = useAppState((state) => showsUnread(state, channel));
  const [now] = useState(() => Date.now());
  const muted = useAppState((state) => isChannelMuted(state, channel, now));
  return (
    <li className="direct-row">
      <Link
        to="/channels/@me/$channelId"
        params={{ channelId: channel.id }}
        className={`channel-row${unread ? " channel-unread" : ""}${muted ? " channel-muted" : ""}`}
      >
        <DirectAvatar channel={channel} name={name} />
        <span className="direct-detail">
          <span dir="auto">{name}</span>
          <DirectSubtitle channel={channel} />
        </span>
        {hasCall && <Phone size={16} className="direct-call" aria-label={text("direct.call")} />}
        <Mentions channelIds={[channel.id]} />
      </Link>
      <DirectMenu channel={channel} name={name} />
    </li>
  );
}

function DirectAvatar({ channel, name }: { channel: APIChannel; name: string }) {
  const [recipient] = recipientsOf(channel);
  if (isGroup(channel) || recipient === undefined) {
    const icon = "icon" in channel ? (channel.icon ?? null) : null;
    return <Avatar url={groupIconUrl(channel.id, icon, 32)} name={name} size={32} hueKey={channel.id} tile />;
  }
  return <PresenceAvatar user={recipient} name={name} size={32} />;
}

function DirectSubtitle({ channel }: { channel: APIChannel }) {
  const text = useText();
  const [recipient] = recipientsOf(channel);
  return (
    <span className="direct-sub">
      {isGroup(channel)
        ? text("direct.group.members", { count: recipientsOf(channel).length + 1 })
        : recipient && <Activity userId={recipient.id} />}
    </span>
  );
}

interface DirectMenuProps {
  channel: APIChannel;
  name: string;
}

/** What can be done with a direct message as a whole. */
export function DirectMenu({ channel, name }: DirectMenuProps) {
  const text = useText();
  const session = useSession();
  const navigate = useNavigate();
  const action = useAction();
  const [dialog, setDialog] = useState<GroupDialogName | null>(null);
  const newest = "last_message_id" in channel ? channel.last_message_id : null;
  const close = async () => {
    await closeDirectMessage(session.api, channel.id);
    if (location.pathname.includes(channel.id)) {
      await navigate({ to: "/channels/@me" });
    }
  };
  const override = useAppState((state) => overrideOf(state, channel));
  const mute = (changes: Mute) => changeChannelSettings(session, "@me", channel.id, changes);
  return (
    <>
      <Menu
        label={text("direct.menu", { name })}
        trigger={
          <IconButton label={text("direct.menu", { name })}>
            <MoreVertical size={16} />
          </IconButton>
        }
      >
        {newest && (
          <MenuItem
            onAction={() => void action.run(() => acknowledgeMessage(session.api, channel.id, newest))}
          >
            {text("common.markRead")}
          </MenuItem>
        )}
        <MuteItems value={override} onChange={(changes) => void action.run(() => mute(changes))} />
        {isGroup(channel) ? (
          <>
            <MenuItem onAction={() => setDialog("add")}>{text("direct.group.add")}</MenuItem>
            <MenuItem onAction={() => setDialog("settings")}>{text("direct.group.settings")}</MenuItem>
            <MenuItem danger onAction={() => setDialog("leave")}>
              {text("direct.group.leave")}
            </MenuItem>
          </>
        ) : (
          <>
            <MenuItem onAction={() => setDialog("add")}>{text("direct.group.add")}</MenuItem>
            <MenuItem onAction={() => void action.run(close)}>{text("direct.close")}</MenuItem>
          </>
        )}
      </Menu>
      {dialog !== null && <GroupDialog name={dialog} channel={channel} onClose={() => setDialog(null)} />}
    </>
  );
}
