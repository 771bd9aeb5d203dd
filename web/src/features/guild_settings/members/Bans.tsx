import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import type { APIBan } from "discord-api-types/v10";
import { Search } from "lucide-react";
import { useState } from "react";

import { avatarUrl } from "../../../api/images";
import { BANS_PER_PAGE, getBan, listBans, removeBan } from "../../../api/moderation";
import { useText } from "../../../i18n/translate";
import { Avatar, Button } from "../../../ui/controls";
import { SearchField } from "../../../ui/fields";
import { ErrorNotice } from "../../session/ErrorNotice";
import { useSession } from "../../session/session";
import { Confirm } from "../../session/Confirm";
import { Skeleton, useRefresh } from "../queries";
import type { SectionProps } from "../section";

/** Who is banned, with search in what is loaded and by id on the server. */
export default function Bans({ guild }: SectionProps) {
  const text = useText();
  const { api, account } = useSession();
  const refresh = useRefresh(guild.id);
  const [query, setQuery] = useState("");
  const [removing, setRemoving] = useState<APIBan | null>(null);
  const pages = useInfiniteQuery({
    queryKey: [account.userId, "guild", guild.id, "bans"],
    queryFn: ({ pageParam }) => listBans(api, guild.id, pageParam),
    initialPageParam: "0",
    getNextPageParam: (page: APIBan[]) => (page.length < BANS_PER_PAGE ? undefined : page.at(-1)?.user.id),
    retry: false,
  });
  const bans = (pages.data?.pages ?? []).flat();
  const words = query.trim().toLocaleLowerCase();
  const matching = bans.filter((ban) =>
    [ban.user.id, ban.user.username, ban.user.global_name, ban.reason].some((field) =>
      field?.toLocaleLowerCase().includes(words),
    ),
  );
  const byId = useQuery({
    queryKey: [account.userId, "guild", guild.id, "bans", "one", words],
    queryFn: () => getBan(api, guild.id, words),
    enabled: /^\d{15,20}$/.test(words) && matching.length === 0,
    retry: false,
  });
  const shown = matching.length === 0 && byId.data !== undefined ? [byId.data] : matching;
  return (
    <div className="settings-block">
      <SearchField
        label={text("guildSettings.bans.search")}
        icon={<Search size={16} aria-hidden="true" />}
        value={query}
        onChange={setQuery}
      />
      <ErrorNotice error={pages.error} />
      {pages.isPending && <Skeleton />}
      {pages.isSuccess && shown.length === 0 && (
        <p className="settings-empty">
          {text(words === "" ? "guildSettings.bans.empty" : "guildSettings.bans.noMatch")}
        </p>
      )}
      <ul className="settings-list" aria-label={text("guildSettings.bans")}>
        {shown.map((ban) => (
          <li key={ban.user.id} className="settings-row">
            <Avatar url={avatarUrl(ban.user, 36)} name={ban.user.username} size={36} hueKey={ban.user.id} />
            <span className="settings-row-text">
              <strong>{ban.user.global_name ?? ban.user.username}</strong>
              <span>{ban.user.username}</span>
              <span>{ban.reason ?? text("guildSettings.bans.noReason")}</span>
            </span>
            <Button onPress={() => setRemoving(ban)}>{text("guildSettings.bans.remove")}</Button>
          </li>
        ))}
      </ul>
      {pages.hasNextPage && (
        <Button isDisabled={pages.isFetchingNextPage} onPress={() => void pages.fetchNextPage()}>
          {text(pages.isFetchingNextPage ? "app.loading" : "guildSettings.more")}
        </Button>
      )}
      {removing !== null && (
        <Confirm
          title={text("guildSettings.bans.remove.title", { name: removing.user.username })}
          question={text("guildSettings.bans.remove.question", { name: removing.user.username })}
          confirm={text("guildSettings.bans.remove")}
          onConfirm={async () => {
            await removeBan(api, guild.id, removing.user.id);
            await refresh("bans");
          }}
          onClose={() => setRemoving(null)}
        />
      )}
    </div>
  );
}
