import { useNavigate } from "@tanstack/react-router";
import type { APIThreadChannel } from "discord-api-types/v10";
import { MoreHorizontal } from "lucide-react";
import { useState } from "react";

import { deleteChannel, modifyChannel, type ChannelChanges } from "../../api/channels";
import { Permission } from "../../api/enums";
import { joinThread, leaveThread, modifyThreadSettings } from "../../api/threads";
import { useText } from "../../i18n/translate";
import { has } from "../../store/permissions";
import { threadMute } from "../../store/settings";
import { isArchived, isLocked } from "../../store/threads";
import { DialogFooter } from "../../ui/DialogFooter";
import { IconButton } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { Menu, MenuItem } from "../../ui/Menu";
import { WithChannelTexts } from "../../i18n/WithChannelTexts";
import { loaded } from "../../ui/loaded";
import { MuteItems } from "../notifications/MuteItems";
import { ErrorNotice } from "../session/ErrorNotice";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";

const ThreadSettings = loaded(() => import("./ThreadSettings"));

const PINNED = 2;

/** What the user can do with a thread. */
export default function ThreadMenu({ thread, inForum }: { thread: APIThreadChannel; inForum: boolean }) {
  return (
    <WithChannelTexts>
      <Actions thread={thread} inForum={inForum} />
    </WithChannelTexts>
  );
}

type Open = "settings" | "delete" | null;

function Actions({ thread, inForum }: { thread: APIThreadChannel; inForum: boolean }) {
  const text = useText();
  const { api } = useSession();
  const action = useAction();
  const [open, setOpen] = useState<Open>(null);
  const permissions = useChannelPermissions(thread);
  const isOwner = useAppState((state) => state.user?.id === thread.owner_id);
  const manages = has(permissions, Permission.ManageThreads);
  const archived = isArchived(thread);
  const locked = isLocked(thread);
  const mayEdit = manages || (isOwner && !locked);
  const pinned = ((thread.flags ?? 0) & PINNED) !== 0;
  const run = (request: () => Promise<unknown>) => void action.run(request);
  const modify = (fields: ChannelChanges) => run(() => modifyChannel(api, thread.id, fields));
  const copyLink = () =>
    void navigator.clipboard.writeText(`${location.origin}/channels/${thread.guild_id ?? ""}/${thread.id}`);
  return (
    <>
      <Menu
        label={text("thread.menu", { name: thread.name })}
        trigger={
          <IconButton label={text("thread.menu", { name: thread.name })}>
            <MoreHorizontal size={18} />
          </IconButton>
        }
      >
        {!archived && thread.member === undefined && (
          <MenuItem onAction={() => run(() => joinThread(api, thread.id))}>{text("thread.join")}</MenuItem>
        )}
        {!archived && thread.member !== undefined && (
          <MenuItem onAction={() => run(() => leaveThread(api, thread.id))}>{text("thread.leave")}</MenuItem>
        )}
        {thread.member !== undefined && (
          <MuteItems
            value={threadMute(thread)}
            mute="thread.mute"
            unmute="thread.unmute"
            onChange={(changes) => run(() => modifyThreadSettings(api, thread.id, changes))}
          />
        )}
        <MenuItem onAction={copyLink}>{text("thread.copyLink")}</MenuItem>
        {!archived && mayEdit && (
          <MenuItem onAction={() => setOpen("settings")}>{text("thread.settings")}</MenuItem>
        )}
        {!archived && manages && inForum && (
          <MenuItem onAction={() => modify({ flags: (thread.flags ?? 0) ^ PINNED })}>
            {text(pinned ? "thread.unpin" : "thread.pin")}
          </MenuItem>
        )}
        {!(archived && locked) && mayEdit && (
          <MenuItem onAction={() => modify({ archived: !archived })}>
            {text(archived ? "thread.unarchive" : "thread.archive")}
          </MenuItem>
        )}
        {manages && (
          <MenuItem
            onAction={() =>
              modify(locked ? { locked: false, archived: false } : { locked: true, archived: true })
            }
          >
            {text(locked ? "thread.unlock" : "thread.lock")}
          </MenuItem>
        )}
        {manages && (
          <MenuItem danger onAction={() => setOpen("delete")}>
            {text("thread.delete")}
          </MenuItem>
        )}
      </Menu>
      {open === null && <ErrorNotice error={action.error} />}
      {open === "settings" && (
        <ThreadSettings thread={thread} inForum={inForum} onClose={() => setOpen(null)} />
      )}
      {open === "delete" && <DeleteThread thread={thread} onClose={() => setOpen(null)} />}
    </>
  );
}

function DeleteThread({ thread, onClose }: { thread: APIThreadChannel; onClose: () => void }) {
  const text = useText();
  const { api } = useSession();
  const navigate = useNavigate();
  const action = useAction();
  const remove = async () => {
    await deleteChannel(api, thread.id);
    onClose();
    const params = { guildId: thread.guild_id ?? "", channelId: thread.parent_id ?? "" };
    await navigate({ to: "/channels/$guildId/$channelId", params });
  };
  return (
    <Dialog title={text("thread.delete")} onClose={onClose}>
      <p>{text("thread.delete.question", { name: thread.name })}</p>
      <ErrorNotice error={action.error} />
      <DialogFooter
        confirm={text("common.delete")}
        kind="danger"
        isDisabled={action.pending}
        onConfirm={() => void action.run(remove)}
        onCancel={onClose}
      />
    </Dialog>
  );
}
