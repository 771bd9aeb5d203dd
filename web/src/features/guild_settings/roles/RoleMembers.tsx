import { useInfiniteQuery } from "@tanstack/react-query";
import type { APIGuildMember, APIRole } from "discord-api-types/v10";
import { UserMinus } from "lucide-react";
import { useEffect } from "react";

import { avatarUrl } from "../../../api/images";
import { listMembers, MEMBERS_PER_PAGE } from "../../../api/moderation";
import { getRoleMemberCounts, setMemberRole } from "../../../api/roles";
import { useText } from "../../../i18n/translate";
import { isAssignable } from "../../../store/ranks";
import type { GuildState } from "../../../store/state";
import { Avatar, Button, IconButton } from "../../../ui/controls";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useAppState, useSession } from "../../session/session";
import { useAction } from "../../session/useAction";
import { MemberField, memberName } from "../../members/MemberField";
import { Skeleton, useGuildQuery, useRefresh } from "../queries";

/** After so many pages without all members of the role, the user is asked to go on. */
const AUTOMATIC_PAGES = 10;

/** Who has a role: adds and removes members. */
export function RoleMembers({ guild, role }: { guild: GuildState; role: APIRole }) {
  const text = useText();
  const { api, account } = useSession();
  const action = useAction();
  const refresh = useRefresh(guild.id);
  const canAssign = useAppState((state) => isAssignable(state, guild, role));
  const counts = useGuildQuery(guild.id, "role counts", getRoleMemberCounts);
  const pages = useInfiniteQuery({
    queryKey: [account.userId, "guild", guild.id, "all members"],
    queryFn: ({ pageParam }) => listMembers(api, guild.id, pageParam),
    initialPageParam: "0",
    getNextPageParam: (page: APIGuildMember[]) =>
      page.length < MEMBERS_PER_PAGE ? undefined : page.at(-1)?.user.id,
    retry: false,
  });
  const members = (pages.data?.pages ?? []).flat().filter((member) => member.roles.includes(role.id));
  const total = counts.data?.[role.id] ?? 0;
  const missing = members.length < total && pages.hasNextPage;
  const goesOn = missing && (pages.data?.pages.length ?? 0) < AUTOMATIC_PAGES;
  const { fetchNextPage, isFetchingNextPage } = pages;
  useEffect(() => {
    if (goesOn && !isFetchingNextPage) {
      void fetchNextPage();
    }
  }, [goesOn, isFetchingNextPage, fetchNextPage]);
  const change = (userId: string, has: boolean) =>
    action.run(async () => {
      await setMemberRole(api, guild.id, userId, role.id, has);
      await Promise.all([refresh("all members"), refresh("role counts")]);
    });
  return (
    <div className="settings-block">
      {canAssign ? (
        <MemberField
          label={text("guildSettings.roles.addMember")}
          guildId={guild.id}
          clears
          onChange={(member) => member !== null && void change(member.user.id, true)}
        />
      ) : (
        <p className="notice">
          {text(role.managed ? "guildSettings.roles.managed.hint" : "guildSettings.roles.notEditable")}
        </p>
      )}
      <ErrorNotice error={action.error ?? pages.error} />
      {pages.isPending ? (
        <Skeleton />
      ) : (
        <>
          {members.length === 0 && !missing && (
            <p className="settings-empty">{text("guildSettings.roles.noMembers")}</p>
          )}
          <ul className="settings-list" aria-label={text("guildSettings.roles.members")}>
            {members.map((member) => (
              <li key={member.user.id} className="settings-row">
                <Avatar
                  url={avatarUrl(member.user, 32)}
                  name={memberName(member)}
                  size={32}
                  hueKey={member.user.id}
                />
                <span className="settings-row-text">
                  <strong>{memberName(member)}</strong>
                  <span>{member.user.username}</span>
                </span>
                {canAssign && (
                  <IconButton
                    label={text("guildSettings.roles.removeMember", { name: memberName(member) })}
                    isDisabled={action.pending}
                    onPress={() => void change(member.user.id, false)}
                  >
                    <UserMinus size={18} />
                  </IconButton>
                )}
              </li>
            ))}
          </ul>
          {missing && (
            <Button isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
              {text(isFetchingNextPage ? "app.loading" : "guildSettings.more")}
            </Button>
          )}
        </>
      )}
    </div>
  );
}
