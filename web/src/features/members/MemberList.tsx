import type { APIChannel, APIGuildMember } from "discord-api-types/v10";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef } from "react";
import { Button as AriaButton } from "react-aria-components";

import { useText } from "../../i18n/translate";
import {
  listedChannel,
  memberListId,
  placedRows,
  rangesFor,
  type MemberRange,
  type PlacedRow,
} from "../../store/memberLists";
import type { MemberListState } from "../../store/entities";
import { displayName, nameColor } from "../../store/selectors";
import { roleColor } from "../../ui/colors";
import type { GuildState } from "../../store/state";
import { useRovingFocus } from "../../ui/roving";
import { useAppState, useSession } from "../session/session";
import { showMembers, usePanelAlone } from "../overlays/panels";
import { PanelHeader } from "../overlays/SidePanel";
import { MemberAvatar } from "../users/MemberAvatar";
import { MemberMenu } from "./MemberMenu";
import "./members.css";

const NO_ROWS: readonly PlacedRow[] = [];

/** The members who may view a channel by role and presence. Only the ranges of rows around those shown are loaded. */
export function MemberList({ guild, channel }: { guild: GuildState; channel: APIChannel }) {
  const text = useText();
  const scroller = useRef<HTMLDivElement>(null);
  useRovingFocus(scroller);
  const role = usePanelAlone() ? "main" : "complementary";
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
    <div
      role={role}
      className="members side-panel"

      aria-label={text("member.list")}
      aria-busy={list === undefined}
    >
      <PanelHeader title={text("member.list")} onClose={() => showMembers(false)} />
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
    </div>
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

function Member({ member, guild }: { member: APIGuildMember; guild: GuildState }) {
  const text = useText();
  const { user } = member;
  const name = useAppState((state) => displayName(state, user, guild.id));
  const color = useAppState((state) => nameColor(state, user.id, guild.id));
  const status = useAppState((state) => state.presences[user.id]?.status ?? "offline");
  return (
    <MemberMenu
      member={member}
      guild={guild}
      hasProfile
      trigger={
        <AriaButton className={`member member-${status}`}>
          <span className="member-avatar">
            <MemberAvatar user={user} guildId={guild.id} name={name} size={32} />
            <span className="member-status" />
          </span>
          <span className="member-name" style={roleColor(color)} dir="auto">
            {name}
          </span>
          {user.bot && <span className="tag">{text("message.tag.app")}</span>}
        </AriaButton>
      }
    />
  );
}
