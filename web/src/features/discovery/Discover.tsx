import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { ArrowLeft, Compass, Search } from "lucide-react";
import { useDeferredValue, useState } from "react";

import { ApiClient } from "../../api/client";
import { joinDiscoverableGuild, listDiscoverableGuilds, type DiscoverableGuild } from "../../api/discovery";
import { guildIconUrl, guildImageUrl } from "../../api/images";
import type { Part } from "../../i18n/messages";
import { Translate, useText, WithTexts } from "../../i18n/translate";
import { Avatar, Button } from "../../ui/controls";
import { EmptyPlace } from "../../ui/EmptyPlace";
import { SearchField } from "../../ui/fields";
import { hueOf } from "../../ui/hues";
import { Select } from "../../ui/Select";
import { LogInFirst } from "../invites/InvitePage";
import { noteArrival } from "../joining/arrival";
import { ErrorNotice } from "../session/ErrorNotice";
import { Queries } from "../session/queries";
import { useAppState, useOptionalSession, type Session } from "../session/session";
import { useAction } from "../session/useAction";
import { CATEGORIES, categoryOf } from "./categories";
import "../joining/joining.css";
import "./discovery.css";

const PARTS: readonly Part[] = ["joining", "discovery"];
const ANONYMOUS = new ApiClient(null);
const PAGE = 24;

/** The discoverable guilds, or one of them; those who are not logged in see both. */
export default function Discover({ guildId }: { guildId: string | null }) {
  return (
    <WithTexts parts={PARTS}>
      <Queries>{guildId === null ? <GuildList /> : <GuildPage guildId={guildId} />}</Queries>
    </WithTexts>
  );
}

function GuildList() {
  const text = useText();
  const api = useOptionalSession()?.api ?? ANONYMOUS;
  const [typed, setTyped] = useState("");
  const [category, setCategory] = useState("");
  const query = useDeferredValue(typed.trim());
  const list = useInfiniteQuery({
    queryKey: ["discovery", query, category],
    queryFn: ({ pageParam }) =>
      listDiscoverableGuilds(api, {
        query,
        category: category === "" ? null : Number(category),
        limit: PAGE,
        offset: pageParam,
      }),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (pages.length * PAGE < last.total ? pages.length * PAGE : undefined),
    placeholderData: keepPreviousData,
    retry: false,
  });
  const guilds = list.data?.pages.flatMap((page) => page.guilds) ?? [];
  const isFiltered = query !== "" || category !== "";
  return (
    <main id="main" className="main discover">
      <header className="discover-head">
        <h1>{text("discovery.title")}</h1>
        <p>{text("discovery.lead")}</p>
        <div className="discover-filter" role="search">
          <SearchField
            label={text("discovery.search")}
            icon={<Search size={18} aria-hidden="true" />}
            value={typed}
            onChange={setTyped}
          />
          <Select
            label={text("discovery.category")}
            value={category}
            options={[
              ["", text("discovery.category.all")],
              ...CATEGORIES.map((id) => [String(id), text(`discovery.category.${id}`)] as const),
            ]}
            onChange={setCategory}
          />
        </div>
      </header>
      <ErrorNotice error={list.error} />
      {list.isSuccess && guilds.length === 0 ? (
        <EmptyPlace
          icon={Compass}
          title={text(isFiltered ? "discovery.none.found" : "discovery.none")}
          actions={
            isFiltered && (
              <Button
                onPress={() => {
                  setTyped("");
                  setCategory("");
                }}
              >
                {text("discovery.showAll")}
              </Button>
            )
          }
        >
          {text(isFiltered ? "discovery.none.found.hint" : "discovery.none.hint")}
        </EmptyPlace>
      ) : (
        <ul className="discover-list" aria-label={text("discovery.title")} aria-busy={list.isPending}>
          {list.isPending &&
            [0, 1, 2, 3, 4, 5].map((key) => <li key={key} className="discover-card skeleton" />)}
          {guilds.map((guild) => (
            <GuildCard key={guild.id} guild={guild} />
          ))}
        </ul>
      )}
      {list.hasNextPage && (
        <Button isDisabled={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
          {text("discovery.more")}
        </Button>
      )}
    </main>
  );
}

/** The picture above a guild: its own, else a ground in the hue of its tile. */
function Cover({ guild }: { guild: DiscoverableGuild }) {
  const url =
    guildImageUrl("discovery-splashes", guild.id, guild.discovery_splash, 320) ??
    guildImageUrl("banners", guild.id, guild.banner, 320);
  return (
    <span className="discover-cover" data-hue={hueOf(guild.id)}>
      {url !== null && <img src={url} alt="" loading="lazy" />}
    </span>
  );
}

function GuildCard({ guild }: { guild: DiscoverableGuild }) {
  const text = useText();
  return (
    <li>
      <Link to="/app/discover/{-$guildId}" params={{ guildId: guild.id }} className="discover-card">
        <Cover guild={guild} />
        <Avatar
          url={guildIconUrl(guild.id, guild.icon, 56)}
          name={guild.name}
          size={56}
          hueKey={guild.id}
          tile
        />
        <strong dir="auto">{guild.name}</strong>
        <span className="discover-about" dir="auto">
          {guild.description}
        </span>
        <Counts guild={guild} />
        <span className="field-hint">
          {text(`discovery.category.${categoryOf(guild.primary_category_id)}`)}
        </span>
      </Link>
    </li>
  );
}

function Counts({ guild }: { guild: DiscoverableGuild }) {
  const text = useText();
  return (
    <span className="field-hint discover-counts">
      <span>{text("guild.join.members", { count: guild.approximate_member_count })}</span>
      <span>{text("joining.online", { count: guild.approximate_presence_count })}</span>
    </span>
  );
}

function GuildPage({ guildId }: { guildId: string }) {
  const text = useText();
  const session = useOptionalSession();
  const api = session?.api ?? ANONYMOUS;
  const query = useQuery({
    queryKey: ["discovery", "guild", guildId],
    queryFn: () => listDiscoverableGuilds(api, { guildIds: [guildId] }),
    retry: false,
  });
  const guild = query.data?.guilds[0];
  return (
    <main id="main" className="page discover-page" aria-busy={query.isPending}>
      <div className="discover-one">
        <Link to="/app/discover/{-$guildId}" params={{ guildId: undefined }} className="discover-back">
          <ArrowLeft size={18} aria-hidden="true" />
          {text("discovery.back")}
        </Link>
        {query.isPending && <Translate id="app.loading" />}
        <ErrorNotice error={query.error} />
        {query.isSuccess && guild === undefined && (
          <p role="alert" className="notice">
            {text("discovery.gone")}
          </p>
        )}
        {guild !== undefined && (
          <div className="invite-card discover-invite">
            <Cover guild={guild} />
            <Avatar
              url={guildIconUrl(guild.id, guild.icon, 80)}
              name={guild.name}
              size={80}
              hueKey={guild.id}
              tile
            />
            <h1 dir="auto">{guild.name}</h1>
            {guild.description !== null && <p dir="auto">{guild.description}</p>}
            <Counts guild={guild} />
            {guild.keywords.length > 0 && (
              <ul className="discover-keywords" aria-label={text("discovery.keywords")}>
                {guild.keywords.map((keyword) => (
                  <li key={keyword} dir="auto">
                    {keyword}
                  </li>
                ))}
              </ul>
            )}
            {session === null ? (
              <LogInFirst path={`/app/discover/${guildId}`}>{text("joining.logInToJoin")}</LogInFirst>
            ) : (
              <JoinButton session={session} guild={guild} />
            )}
          </div>
        )}
      </div>
    </main>
  );
}

function JoinButton({ session, guild }: { session: Session; guild: DiscoverableGuild }) {
  const text = useText();
  const navigate = useNavigate();
  const action = useAction();
  const { api, store } = session;
  const isMember = useAppState((state) => guild.id in state.guilds);
  const join = async () => {
    if (!isMember) {
      await joinDiscoverableGuild(api, guild.id);
      noteArrival(guild.id);
      await store.waitFor((state) => guild.id in state.guilds);
    }
    await navigate({ to: "/channels/$guildId", params: { guildId: guild.id } });
  };
  return (
    <>
      <ErrorNotice error={action.error} />
      <Button kind="primary" isDisabled={action.pending} onPress={() => void action.run(join)}>
        {isMember ? text("discovery.open") : text("guild.join.submit", { name: guild.name })}
      </Button>
    </>
  );
}
