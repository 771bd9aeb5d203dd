import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { APIGuildMember } from "discord-api-types/v10";
import { Gavel, MoreVertical, Search, UserX } from "lucide-react";
import { useDeferredValue, useState } from "react";

import { Permission } from "../../../api/enums";
import { avatarUrl } from "../../../api/images";
import { listMembers, MEMBERS_PER_PAGE, modifyMember, searchMembers } from "../../../api/moderation";
import { useText } from "../../../i18n/translate";
import { has } from "../../../store/permissions";
import { mayActOn } from "../../../store/ranks";
import type { GuildState } from "../../../store/state";
import { Avatar, Button, IconButton } from "../../../ui/controls";
import { Menu, MenuItem } from "../../../ui/Menu";
import { Checkbox, SearchField } from "../../../ui/fields";
import { RemoveMember } from "../../members/RemoveMember";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useAppState, useSession } from "../../session/session";
import { useAction } from "../../session/useAction";
import { memberName } from "../../members/MemberField";
import { EditMember } from "../../members/EditMember";
import { TimeOut } from "../../members/TimeOut";
import { useFormats } from "../formats";
import { Skeleton, useRefresh } from "../queries";
import type { SectionProps } from "../section";
import { BulkBan } from "./BulkBan";
import { Prune } from "./Prune";

/** The most users that one request bans. */
const BULK_BAN_MAX = 200;

type Open =
  { kind: "edit" | "kick" | "ban" | "timeout"; member: APIGuildMember } | { kind: "prune" | "bulk" } | null;

/** The members of a guild, searched on the server, with everything that moderators do to them. */
export default function Members({ guild, permissions }: SectionProps) {
  const text = useText();
  const { api, account } = useSession();
  const refresh = useRefresh(guild.id);
  const [input, setInput] = useState("");
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [open, setOpen] = useState<Open>(null);
  const query = useDeferredValue(input.trim());
  const pages = useInfiniteQuery({
    queryKey: [account.userId, "guild", guild.id, "all members"],
    queryFn: ({ pageParam }) => listMembers(api, guild.id, pageParam),
    initialPageParam: "0",
    getNextPageParam: (page: APIGuildMember[]) =>
      page.length < MEMBERS_PER_PAGE ? undefined : page.at(-1)?.user.id,
    retry: false,
  });
  const search = useQuery({
    queryKey: [account.userId, "guild", guild.id, "member search", query],
    queryFn: () => searchMembers(api, guild.id, query),
    enabled: query !== "",
    retry: false,
  });
  const listed = query === "" ? pages.data?.pages.flat() : search.data;
  const members = listed ?? [];
  const canBan = has(permissions, Permission.BanMembers | Permission.ManageGuild);
  const close = () => {
    setOpen(null);
    void refresh("all members");
    void refresh("member search");
  };
  const select = (userId: string, on: boolean) => {
    const next = new Set(selected);
    if (on && next.size < BULK_BAN_MAX) {
      next.add(userId);
    } else {
      next.delete(userId);
    }
    setSelected(next);
  };
  return (
    <div className="settings-block">
      <div className="settings-bar">
        <SearchField
          label={text("guildSettings.members.search")}
          icon={<Search size={16} aria-hidden="true" />}
          value={input}
          onChange={setInput}
        />
        {has(permissions, Permission.ManageGuild | Permission.KickMembers) && (
          <Button onPress={() => setOpen({ kind: "prune" })}>
            <UserX size={16} aria-hidden="true" /> {text("guildSettings.members.prune")}
          </Button>
        )}
      </div>
      {selected.size > 0 && (
        <div className="settings-bar" role="status">
          <span className="settings-count">
            {text("guildSettings.members.selected", { count: selected.size })}
          </span>
          <Button kind="danger" onPress={() => setOpen({ kind: "bulk" })}>
            <Gavel size={16} aria-hidden="true" /> {text("guildSettings.members.bulkBan")}
          </Button>
        </div>
      )}
      <ErrorNotice error={query === "" ? pages.error : search.error} />
      {listed === undefined && !pages.isError && <Skeleton />}
      {listed?.length === 0 && <p className="settings-empty">{text("guildSettings.members.empty")}</p>}
      <ul className="settings-list" aria-label={text("guildSettings.members")}>
        {members.map((member) => (
          <MemberRow
            key={member.user.id}
            guild={guild}
            member={member}
            isSelected={selected.has(member.user.id)}
            onSelect={canBan ? (on) => select(member.user.id, on) : null}
            onOpen={setOpen}
          />
        ))}
      </ul>
      {query === "" && pages.hasNextPage && (
        <Button isDisabled={pages.isFetchingNextPage} onPress={() => void pages.fetchNextPage()}>
          {text(pages.isFetchingNextPage ? "app.loading" : "guildSettings.more")}
        </Button>
      )}
      {open?.kind === "prune" && <Prune guild={guild} onClose={close} />}
      {open?.kind === "bulk" && (
        <BulkBan
          guildId={guild.id}
          userIds={[...selected]}
          onDone={() => setSelected(new Set())}
          onClose={close}
        />
      )}
      {open?.kind === "edit" && <EditMember guild={guild} member={open.member} onClose={close} />}
      {open?.kind === "timeout" && <TimeOut guildId={guild.id} member={open.member} onClose={close} />}
      {(open?.kind === "kick" || open?.kind === "ban") && (
        <RemoveMember
          kind={open.kind}
          guildId={guild.id}
          userId={open.member.user.id}
          name={memberName(open.member)}
          onClose={close}
        />
      )}
    </div>
  );
}

interface MemberRowProps {
  guild: GuildState;
  member: APIGuildMember;
  isSelected: boolean;
  /** Null where the user cannot ban several at once. */
  onSelect: ((on: boolean) => void) | null;
  onOpen: (open: Open) => void;
}

function MemberRow({ guild, member, isSelected, onSelect, onOpen }: MemberRowProps) {
  const text = useText();
  const { moment, day, isFuture } = useFormats();
  const name = memberName(member);
  const target = { userId: member.user.id, roles: member.roles };
  const canBan = useAppState((state) => mayActOn(state, guild, target, Permission.BanMembers));
  const roles = member.roles.map((id) => guild.roles[id]?.name).filter((role) => role !== undefined);
  const until = member.communication_disabled_until ?? null;
  return (
    <li className="settings-row">
      {onSelect !== null && (
        <Checkbox
          label={text("guildSettings.members.select", { name })}
          hidesLabel
          isSelected={isSelected}
          isDisabled={!canBan}
          onChange={onSelect}
        />
      )}
      <Avatar url={avatarUrl(member.user, 36)} name={name} size={36} hueKey={member.user.id} />
      <span className="settings-row-text">
        <strong>{name}</strong>
        <span>
          {member.user.username}
          {member.joined_at !== null &&
            ` · ${text("guildSettings.members.joined", { date: day(member.joined_at) })}`}
          {roles.length > 0 && ` · ${roles.join(", ")}`}
        </span>
        {until !== null && isFuture(until) && (
          <span className="settings-warning">
            {text("guildSettings.members.timedOut", { date: moment(until) })}
          </span>
        )}
      </span>
      <MemberMenu guild={guild} member={member} onOpen={onOpen} />
    </li>
  );
}

/** What the user may do to a member. */
function MemberMenu({ guild, member, onOpen }: Pick<MemberRowProps, "guild" | "member" | "onOpen">) {
  const text = useText();
  const { api } = useSession();
  const { isFuture } = useFormats();
  const action = useAction();
  const refresh = useRefresh(guild.id);
  const target = { userId: member.user.id, roles: member.roles };
  const may = useAppState((state) => {
    const act = (permission: bigint) => mayActOn(state, guild, target, permission);
    const isSelf = state.user?.id === member.user.id;
    return [
      act(Permission.ManageNicknames) || act(Permission.ManageRoles) || isSelf ? "edit" : "",
      act(Permission.ModerateMembers) ? "timeout" : "",
      act(Permission.KickMembers) ? "kick" : "",
      act(Permission.BanMembers) ? "ban" : "",
    ].join(" ");
  });
  const allowed = may.split(" ").filter(Boolean);
  const timedOut = isFuture(member.communication_disabled_until ?? "");
  const endTimeout = async () => {
    await modifyMember(api, guild.id, member.user.id, { communication_disabled_until: null });
    await Promise.all([refresh("all members"), refresh("member search")]);
  };
  if (allowed.length === 0) {
    return null;
  }
  const label = text("guildSettings.members.actions", { name: memberName(member) });
  return (
    <span className="settings-row-actions">
      <ErrorNotice error={action.error} />
      <Menu
        label={label}
        trigger={
          <IconButton label={label}>
            <MoreVertical size={18} />
          </IconButton>
        }
      >
        {allowed.includes("edit") && (
          <MenuItem onAction={() => onOpen({ kind: "edit", member })}>
            {text("guildSettings.members.edit")}
          </MenuItem>
        )}
        {allowed.includes("timeout") &&
          (timedOut ? (
            <MenuItem onAction={() => void action.run(endTimeout)}>
              {text("guildSettings.members.timeout.end")}
            </MenuItem>
          ) : (
            <MenuItem onAction={() => onOpen({ kind: "timeout", member })}>
              {text("guildSettings.members.timeout")}
            </MenuItem>
          ))}
        {allowed.includes("kick") && (
          <MenuItem danger onAction={() => onOpen({ kind: "kick", member })}>
            {text("member.kick")}
          </MenuItem>
        )}
        {allowed.includes("ban") && (
          <MenuItem danger onAction={() => onOpen({ kind: "ban", member })}>
            {text("member.ban")}
          </MenuItem>
        )}
      </Menu>
    </span>
  );
}
