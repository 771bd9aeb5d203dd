import type { APIMessage } from "discord-api-types/v10";
import { MoreHorizontal, Pencil, Reply, SmilePlus } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { ApplicationCommandType, ChannelType, MessageFlag, Permission } from "../../api/enums";
import { saveMessage } from "../../api/inbox";
import { clearReactions, deleteMessage, setEmbedsShown, setPinned } from "../../api/messages";
import { useText } from "../../i18n/translate";
import { has } from "../../store/permissions";
import { IconButton } from "../../ui/controls";
import { Menu, MenuAt, MenuItem, MenuSeparator, type Point } from "../../ui/Menu";
import { loaded } from "../../ui/loaded";
import { AppsMenuItem } from "../commands/AppsMenuItem";
import { Confirm } from "../session/Confirm";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";
import { EmojiButton } from "../emojis/EmojiButton";
import { isEditable, isForwardable, isPublishable, isWritten } from "./forwarding";
import { markMessageUnread } from "./markUnread";
import { toggleReaction } from "./Reactions";
import { QuickReactions } from "./QuickReactions";
import { useMessageKeys } from "./useMessageKeys";

const ForwardDialog = loaded(() => import("./ForwardDialog"));
const PublishDialog = loaded(() => import("./PublishDialog"));
const ThreadForm = loaded(() => import("../threads/ThreadForm"));

const THREAD_PARENTS: ReadonlySet<ChannelType> = new Set([
  ChannelType.GuildText,
  ChannelType.GuildAnnouncement,
]);

interface MessageActionsProps {
  message: APIMessage;
  onEdit: (messageId: string | null) => void;
  onReply: (message: APIMessage) => void;
  onSelect: ((messageId: string) => void) | null;
  /** Whether the first of the controls gets the focus, in place of the button that stood for them. */
  takesFocus: boolean;
  /** Where the menu opens by a secondary press; null while it does not. */
  menuAt: Point | null;
  onMenuClose: () => void;
}

type Open = "delete" | "thread" | "forward" | "publish" | null;

/** What can be done with a message; loaded once the first messages are shown. */
export default function MessageActions(props: MessageActionsProps) {
  const { message, onEdit, onReply, onSelect, takesFocus, menuAt, onMenuClose } = props;
  const group = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (takesFocus) {
      group.current?.querySelector("button")?.focus();
    }
  }, [takesFocus]);
  const text = useText();
  const session = useSession();
  const action = useAction();
  const [open, setOpen] = useState<Open>(null);
  const [reacting, setReacting] = useState(false);
  const close = () => setOpen(null);
  const isOwn = useAppState((state) => state.user?.id === message.author.id);
  const channel = useAppState((state) => state.channels[message.channel_id]);
  const permissions = useChannelPermissions(channel);
  const mayPublish = useAppState((state) => isPublishable(state, channel, message));
  const mayManage = has(permissions, Permission.ManageMessages);
  const mayPin = mayManage || has(permissions, Permission.PinMessages);
  const mayEdit = isOwn && isEditable(message);
  const mayDelete = isOwn || mayManage;
  const mayReact = has(permissions, Permission.AddReactions);
  useMessageKeys(group, {
    reply: () => onReply(message),
    edit: mayEdit ? () => onEdit(message.id) : null,
    react: mayReact ? () => setReacting(true) : null,
    remove: mayDelete ? () => setOpen("delete") : null,
  });
  const mayStartThread =
    channel !== undefined &&
    THREAD_PARENTS.has(channel.type) &&
    isWritten(message) &&
    message.thread === undefined &&
    has(permissions, Permission.CreatePublicThreads);
  const isPrivate = ((message.flags ?? 0) & MessageFlag.Ephemeral) !== 0;
  const pin = () =>
    void action.run(() => setPinned(session.api, message.channel_id, message.id, !message.pinned));
  const copyLink = () => {
    const guildId = channel !== undefined && "guild_id" in channel ? channel.guild_id : "@me";
    void navigator.clipboard.writeText(
      `${location.origin}/channels/${guildId}/${message.channel_id}/${message.id}`,
    );
  };
  const isShown = ((message.flags ?? 0) & MessageFlag.SuppressEmbeds) === 0;
  const toggleEmbeds = () => void action.run(() => setEmbedsShown(session.api, message, !isShown));
  const unread = () => void action.run(() => markMessageUnread(session, message));
  const copyText = () => void navigator.clipboard.writeText(message.content);
  const items = (
    <>
      {mayStartThread && <MenuItem onAction={() => setOpen("thread")}>{text("thread.create")}</MenuItem>}
      {isForwardable(message) && (
        <MenuItem onAction={() => setOpen("forward")}>{text("message.forward")}</MenuItem>
      )}
      {mayPublish && <MenuItem onAction={() => setOpen("publish")}>{text("message.publish")}</MenuItem>}
      {!isPrivate && (
        <MenuItem
          onAction={() => void action.run(() => saveMessage(session.api, message.channel_id, message.id))}
        >
          {text("message.save")}
        </MenuItem>
      )}
      {!isPrivate && <MenuItem onAction={unread}>{text("message.markUnread")}</MenuItem>}
      <MenuItem onAction={copyLink}>{text("message.link")}</MenuItem>
      {mayPin && <MenuItem onAction={pin}>{text(message.pinned ? "message.unpin" : "message.pin")}</MenuItem>}
      {!isPrivate && (
        <AppsMenuItem
          channelId={message.channel_id}
          type={ApplicationCommandType.Message}
          targetId={message.id}
        />
      )}
      {mayDelete && (message.embeds.length > 0 || !isShown) && isWritten(message) && (
        <MenuItem onAction={toggleEmbeds}>
          {text(isShown ? "message.hidePreviews" : "message.showPreviews")}
        </MenuItem>
      )}
      {mayManage && (message.reactions?.length ?? 0) > 0 && (
        <MenuItem
          onAction={() => void action.run(() => clearReactions(session.api, message.channel_id, message.id))}
        >
          {text("message.clearReactions")}
        </MenuItem>
      )}
      {mayManage && onSelect !== null && !isPrivate && (
        <MenuItem onAction={() => onSelect(message.id)}>{text("message.select")}</MenuItem>
      )}
      {mayDelete && (
        <MenuItem danger onAction={() => setOpen("delete")}>
          {text("message.delete")}
        </MenuItem>
      )}
    </>
  );
  return (
    <>
      <div ref={group} className="message-actions" role="group" aria-label={text("message.actions")}>
        {mayReact && (
          <EmojiButton
            label={text("message.react")}
            icon={<SmilePlus size={18} />}
            channel={channel}
            isOpen={reacting}
            onOpenChange={setReacting}
            onSelect={({ id, name }) => void toggleReaction(session, message, { id, name }, true)}
          />
        )}
        <IconButton label={text("message.reply")} onPress={() => onReply(message)}>
          <Reply size={18} />
        </IconButton>
        {mayEdit && (
          <IconButton label={text("message.edit")} onPress={() => onEdit(message.id)}>
            <Pencil size={18} />
          </IconButton>
        )}
        <Menu
          label={text("message.more")}
          trigger={
            <IconButton label={text("message.more")}>
              <MoreHorizontal size={18} />
            </IconButton>
          }
        >
          {items}
        </Menu>
        {action.error !== null && (
          <div className="message-actions-error">
            <ErrorNotice error={action.error} />
          </div>
        )}
        {open === "thread" && channel !== undefined && (
          <ThreadForm channel={channel} message={message} onClose={close} />
        )}
        {open === "forward" && <ForwardDialog message={message} onClose={close} />}
        {open === "publish" && <PublishDialog message={message} onClose={close} />}
        {open === "delete" && (
          <Confirm
            title={text("message.delete")}
            question={text("message.delete.question")}
            confirm={text("common.delete")}
            onConfirm={() => deleteMessage(session.api, message.channel_id, message.id)}
            onClose={close}
          />
        )}
      </div>
      {menuAt !== null && (
        <MenuAt at={menuAt} label={text("message.more")} onClose={onMenuClose}>
          {mayReact && (
            <QuickReactions onReact={(emoji) => void toggleReaction(session, message, emoji, true)} />
          )}
          <MenuItem onAction={() => onReply(message)}>{text("message.reply")}</MenuItem>
          {mayEdit && <MenuItem onAction={() => onEdit(message.id)}>{text("message.edit")}</MenuItem>}
          {message.content !== "" && <MenuItem onAction={copyText}>{text("message.copyText")}</MenuItem>}
          <MenuSeparator />
          {items}
        </MenuAt>
      )}
    </>
  );
}
