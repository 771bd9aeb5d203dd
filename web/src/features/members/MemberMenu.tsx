import { useNavigate } from "@tanstack/react-router";
import type { APIGuildMember } from "discord-api-types/v10";
import { useState, type ReactNode } from "react";

import { ApplicationCommandType, Permission } from "../../api/enums";
import { openDirectMessage, timeOutMember } from "../../api/guilds";
import { useText } from "../../i18n/translate";
import { guildPermissions, has } from "../../store/permissions";
import { mayActOn } from "../../store/ranks";
import { displayName } from "../../store/selectors";
import type { GuildState } from "../../store/state";
import { ContextMenu, Menu, MenuItem } from "../../ui/Menu";
import { loaded } from "../../ui/loaded";
import { AppsMenuItem } from "../commands/AppsMenuItem";
import { RelationshipItems } from "../friends/RelationshipItems";
import { openPanel } from "../overlays/panels";
import { useAppState, useSession } from "../session/session";
import { usePath } from "../session/usePath";
import { useAction } from "../session/useAction";

const BlockDialog = loaded(async () => ({ default: (await import("../friends/FriendDialogs")).BlockDialog }));
const GuildProfile = loaded(() => import("./GuildProfile"));
const MemberDialog = loaded(() => import("./MemberDialog"));
const RemoveMember = loaded(async () => ({ default: (await import("./RemoveMember")).RemoveMember }));

interface MemberMenuProps {
  member: APIGuildMember;
  guild: GuildState;
  trigger: ReactNode;
  /** Whether it offers the member's profile. */
  hasProfile: boolean;
}

export type MemberDialogName = "own" | "block" | "edit" | "timeout" | "kick" | "ban";

/** A button that opens what the user can do about a member; a secondary press opens the same at the pointer. */
export function MemberMenu({ member, guild, trigger, hasProfile }: MemberMenuProps) {
  const text = useText();
  const [open, setOpen] = useState<MemberDialogName | null>(null);
  const name = useAppState((state) => displayName(state, member.user, guild.id));
  const label = text("member.menu", { name });
  const items = <MemberItems member={member} guild={guild} hasProfile={hasProfile} onOpen={setOpen} />;
  return (
    <>
      <ContextMenu label={label} menu={items}>
        <Menu label={label} trigger={trigger}>
          {items}
        </Menu>
      </ContextMenu>
      <MemberDialogs open={open} member={member} guild={guild} name={name} onClose={() => setOpen(null)} />
    </>
  );
}

interface MemberDialogsProps extends Pick<MemberMenuProps, "member" | "guild"> {
  open: MemberDialogName | null;
  name: string;
  onClose: () => void;
}

/** The dialog that an item of a member's menu has opened. */
export function MemberDialogs({ open, member, guild, name, onClose }: MemberDialogsProps) {
  switch (open) {
    case "own":
      return <GuildProfile guild={guild} onClose={onClose} />;
    case "block":
      return <BlockDialog user={member.user} name={name} onClose={onClose} />;
    case "edit":
    case "timeout":
      return <MemberDialog kind={open} guild={guild} member={member} onClose={onClose} />;
    case "kick":
    case "ban":
      return (
        <RemoveMember kind={open} guildId={guild.id} userId={member.user.id} name={name} onClose={onClose} />
      );
    case null:
      return null;
  }
}

interface MemberItemsProps extends Pick<MemberMenuProps, "member" | "guild" | "hasProfile"> {
  onOpen: (open: MemberDialogName) => void;
}

/** The items of a member's menu. */
export function MemberItems({ member, guild, hasProfile, onOpen }: MemberItemsProps) {
  const text = useText();
  const { api, store } = useSession();
  const navigate = useNavigate();
  const { channelId } = usePath();
  const action = useAction();
  const { user } = member;
  const [now] = useState(() => Date.now());
  const timedOut = Date.parse(member.communication_disabled_until ?? "") > now;
  const isSelf = useAppState((state) => state.user?.id === user.id);
  const target = { userId: user.id, roles: member.roles };
  const may = useAppState((state) => {
    const act = (permission: bigint) => mayActOn(state, guild, target, permission);
    const own = guildPermissions(state, guild.id, state.user?.id ?? "");
    const editsRoles = has(own, Permission.ManageRoles);
    return [
      editsRoles || act(Permission.ManageNicknames) ? "edit" : "",
      act(Permission.ModerateMembers) ? "timeout" : "",
      act(Permission.KickMembers) ? "kick" : "",
      act(Permission.BanMembers) ? "ban" : "",
    ].join(" ");
  }).split(" ");
  const message = async () => {
    const channel = await openDirectMessage(api, user.id);
    store.dispatch("CHANNEL_CREATE", channel);
    await navigate({ to: "/channels/@me/$channelId", params: { channelId: channel.id } });
  };
  return (
    <>
      {hasProfile && (
        <MenuItem onAction={() => openPanel({ kind: "profile", userId: user.id })}>
          {text("user.card")}
        </MenuItem>
      )}
      {isSelf && <MenuItem onAction={() => onOpen("own")}>{text("guild.profile")}</MenuItem>}
      {!isSelf && hasProfile && (
        <MenuItem onAction={() => void action.run(message)}>{text("member.message")}</MenuItem>
      )}
      {!isSelf && <RelationshipItems user={user} onBlock={() => onOpen("block")} />}
      {channelId !== undefined && (
        <AppsMenuItem channelId={channelId} type={ApplicationCommandType.User} targetId={user.id} />
      )}
      {may.includes("edit") && <MenuItem onAction={() => onOpen("edit")}>{text("member.edit")}</MenuItem>}
      {may.includes("timeout") &&
        (timedOut ? (
          <MenuItem onAction={() => void action.run(() => timeOutMember(api, guild.id, user.id, null, ""))}>
            {text("member.timeout.end")}
          </MenuItem>
        ) : (
          <MenuItem onAction={() => onOpen("timeout")}>{text("member.timeout")}</MenuItem>
        ))}
      {may.includes("kick") && (
        <MenuItem danger onAction={() => onOpen("kick")}>
          {text("member.kick")}
        </MenuItem>
      )}
      {may.includes("ban") && (
        <MenuItem danger onAction={() => onOpen("ban")}>
          {text("member.ban")}
        </MenuItem>
      )}
    </>
  );
}
