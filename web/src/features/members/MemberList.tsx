import { ApplicationCommandType, Permission } from "../../api/enums";
import { useNavigate } from "@tanstack/react-router";
import type { APIChannel, APIGuildMember } from "discord-api-types/v10";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, lazy, Suspense, useMemo, useRef, useState } from "react";
import { Button as AriaButton } from "react-aria-components";

import { avatarUrl } from "../../api/images";
import { openDirectMessage, timeOutMember } from "../../api/guilds";
import { RelationshipItems } from "../friends/RelationshipItems";
import { useText } from "../../i18n/translate";
import {
  listedChannel,
  memberListId,
  placedRows,
  rangesFor,
  type MemberListState,
  type MemberRange,
  type PlacedRow,
} from "../../store/memberLists";
import { guildPermissions, has } from "../../store/permissions";
import { displayName, nameColor } from "../../store/selectors";
import { roleColor } from "../../ui/colors";
import type { GuildState } from "../../store/state";
import { Avatar } from "../../ui/controls";
import { Menu, MenuItem } from "../../ui/Menu";
import { useRovingFocus } from "../../ui/roving";
import { AppsMenuItem } from "../commands/AppsMenuItem";
import { useAppState, useSession } from "../session/session";
import { usePath } from "../session/usePath";
import { useAction } from "../session/useAction";
import { RemoveMember } from "./RemoveMember";
import "./members.css";

const BlockDialog = lazy(async () => ({ default: (await import("../friends/FriendDialogs")).BlockDialog }));

const NO_ROWS: readonly PlacedRow[] = [];

/** The members who may view a channel by role and presence. Only the ranges of rows around those shown are loaded. */
export function MemberList({ guild, channel }: { guild: GuildState; channel: APIChannel }) {
  const text = useText();
  const scroller = useRef<HTMLDivElement>(null);
  useRovingFocus(scroller);
  const list = useMemberList(guild, channel);
  const rows = useMemo(() => (list === undefined ? NO_ROWS : placedRows(list)), [list]);
  // eslint-disable-next-line react-hooks/incompatible-library -- its result changes with each scroll
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (rows[index]?.kind === "heading" ? 36 : 44),
    getItemKey: (index) => keyOf(rows[index], index),
    overscan: 10,
  });
  const items = virtualizer.getVirtualItems();
  useSubscription(guild.id, channel, items[0]?.index ?? 0, items.at(-1)?.index ?? 0);
  // The estimates depend on which rows are headings.
  const headings = list?.groups;
  useEffect(() => virtualizer.measure(), [virtualizer, headings]);
  return (
    <aside className="members" aria-label={text("member.list")} aria-busy={list === undefined}>
      <div ref={scroller} className="members-scroller">
        {list === undefined && <Skeleton />}
        <div className="members-rows" style={{ height: virtualizer.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            return (
              row && (
                <div
                  key={item.key}
                  className="members-row"
                  style={{ transform: `translateY(${item.start}px)`, height: item.size }}
                >
                  <Row row={row} guild={guild} />
                </div>
              )
            );
          })}
        </div>
      </div>
    </aside>
  );
}

function useMemberList(guild: GuildState, channel: APIChannel): MemberListState | undefined {
  return useAppState((state) => state.memberLists[guild.id]?.[memberListId(guild, channel, state.channels)]);
}

/** Subscribe to the ranges around the rows shown, until the list is hidden. */
function useSubscription(guildId: string, channel: APIChannel, first: number, last: number): void {
  const { gateway } = useSession();
  const channelId = useAppState((state) => listedChannel(channel, state.channels).id);
  const ranges = JSON.stringify(rangesFor(first, last));
  useEffect(() => {
    gateway.subscribe(guildId, channelId, JSON.parse(ranges) as MemberRange[]);
  }, [gateway, guildId, channelId, ranges]);
  useEffect(() => () => gateway.unsubscribe(guildId), [gateway, guildId]);
}

function keyOf(row: PlacedRow | undefined, index: number): string {
  switch (row?.kind) {
    case "heading":
      return `heading ${row.group.id}`;
    case "member":
      return row.userId;
    default:
      return `unknown ${String(index)}`;
  }
}

function Row({ row, guild }: { row: PlacedRow; guild: GuildState }) {
  const text = useText();
  if (row.kind === "unknown") {
    return <SkeletonRow />;
  }
  if (row.kind === "member") {
    return <LoadedMember userId={row.userId} guild={guild} />;
  }
  const { id, count } = row.group;
  const title = guild.roles[id]?.name ?? text(id === "offline" ? "member.offline" : "member.online");
  return (
    <h2 className="members-heading">
      {title} · {count}
    </h2>
  );
}

function LoadedMember({ userId, guild }: { userId: string; guild: GuildState }) {
  const member = useAppState((state) => state.members[guild.id]?.[userId]);
  return member === undefined ? <SkeletonRow /> : <Member member={member} guild={guild} />;
}

function Skeleton() {
  return (
    <div aria-hidden="true">
      {Array.from({ length: 8 }, (_unused, index) => (
        <SkeletonRow key={index} />
      ))}
    </div>
  );
}

function SkeletonRow() {
  return (
    <div className="member-skeleton" aria-hidden="true">
      <span className="skeleton member-skeleton-avatar" />
      <span className="skeleton member-skeleton-name" />
    </div>
  );
}

type Removal = "kick" | "ban" | null;

function Member({ member, guild }: { member: APIGuildMember; guild: GuildState }) {
  const text = useText();
  const { api, store } = useSession();
  const navigate = useNavigate();
  const { channelId } = usePath();
  const action = useAction();
  const [removal, setRemoval] = useState<Removal>(null);
  const [blocking, setBlocking] = useState(false);
  const { user } = member;
  const name = useAppState((state) => displayName(state, user, guild.id));
  const color = useAppState((state) => nameColor(state, user.id, guild.id));
  const status = useAppState((state) => state.presences[user.id]?.status ?? "offline");
  const isSelf = useAppState((state) => state.user?.id === user.id);
  const permissions = useAppState((state) => guildPermissions(state, guild.id, state.user?.id ?? ""));
  const isTarget = !isSelf && guild.ownerId !== user.id;
  const [now] = useState(() => Date.now());
  const timedOut = Date.parse(member.communication_disabled_until ?? "") > now;
  const message = async () => {
    const channel = await openDirectMessage(api, user.id);
    store.dispatch("CHANNEL_CREATE", channel);
    await navigate({ to: "/channels/@me/$channelId", params: { channelId: channel.id } });
  };
  const timeOut = () =>
    timeOutMember(
      api,
      guild.id,
      user.id,
      timedOut ? null : new Date(Date.now() + 3_600_000).toISOString(),
      "",
    );
  return (
    <>
      <Menu
        label={text("member.menu", { name })}
        trigger={
          <AriaButton className={`member member-${status}`}>
            <span className="member-avatar">
              <Avatar url={avatarUrl(user, 32)} name={name} size={32} />
              <span className="member-status" />
            </span>
            <span className="member-name" style={roleColor(color)}>
              {name}
            </span>
            {user.bot && <span className="tag">{text("message.tag.app")}</span>}
          </AriaButton>
        }
      >
        {!isSelf && <MenuItem onAction={() => void action.run(message)}>{text("member.message")}</MenuItem>}
        {!isSelf && <RelationshipItems user={user} onBlock={() => setBlocking(true)} />}
        {channelId !== undefined && (
          <AppsMenuItem channelId={channelId} type={ApplicationCommandType.User} targetId={user.id} />
        )}
        {isTarget && has(permissions, Permission.ModerateMembers) && (
          <MenuItem onAction={() => void action.run(timeOut)}>
            {text(timedOut ? "member.timeout.end" : "member.timeout")}
          </MenuItem>
        )}
        {isTarget && has(permissions, Permission.KickMembers) && (
          <MenuItem danger onAction={() => setRemoval("kick")}>
            {text("member.kick")}
          </MenuItem>
        )}
        {isTarget && has(permissions, Permission.BanMembers) && (
          <MenuItem danger onAction={() => setRemoval("ban")}>
            {text("member.ban")}
          </MenuItem>
        )}
      </Menu>
      {blocking && (
        <Suspense>
          <BlockDialog user={user} name={name} onClose={() => setBlocking(false)} />
        </Suspense>
      )}
      {removal !== null && (
        <RemoveMember
          kind={removal}
          guildId={guild.id}
          userId={user.id}
          name={name}
          onClose={() => setRemoval(null)}
        />
      )}
    </>
  );
}
