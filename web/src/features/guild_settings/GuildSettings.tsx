import { Link, Navigate, useNavigate } from "@tanstack/react-router";
import { ArrowLeft, X } from "lucide-react";
import { Suspense } from "react";

import type { Part } from "../../i18n/messages";
import { useText, WithTexts } from "../../i18n/translate";
import { guildPermissions } from "../../store/permissions";
import { IconButton } from "../../ui/controls";
import { Queries } from "../session/queries";
import { useAppState } from "../session/session";
import { Panes } from "../shell/Shell";
import { Skeleton } from "./queries";
import { settingsLink } from "./links";
import { visibleGroups } from "./sections";
import "./guild_settings.css";

const PARTS: readonly Part[] = ["guild_settings", "permissions"];

interface GuildSettingsProps {
  guildId: string;
  sectionId: string | null;
  itemId: string | null;
}

/** The settings of a guild: a list of the sections that the user may use, and the open one. */
export function GuildSettings(props: GuildSettingsProps) {
  return (
    <WithTexts parts={PARTS} fallback={<main id="main" className="main" aria-busy="true" />}>
      <Queries>
        <Frame {...props} />
      </Queries>
    </WithTexts>
  );
}

function Frame({ guildId, sectionId, itemId }: GuildSettingsProps) {
  const text = useText();
  const navigate = useNavigate();
  const guild = useAppState((state) => state.guilds[guildId]);
  const loading = useAppState((state) => state.loadingGuilds.includes(guildId));
  const permissions = useAppState((state) => guildPermissions(state, guildId, state.user?.id ?? ""));
  if (guild === undefined) {
    return loading ? (
      <main id="main" className="main" aria-busy="true" />
    ) : (
      <Navigate to="/channels/@me" replace />
    );
  }
  const groups = visibleGroups(permissions);
  const sections = groups.flatMap((group) => group.sections);
  const current = sections.find(({ id }) => id === sectionId) ?? null;
  const isWide = matchMedia("(min-width: 720px)").matches;
  const first = sections[0];
  if (current === null && first !== undefined && (isWide || sectionId !== null)) {
    return <Navigate {...settingsLink(guildId, first.id)} replace />;
  }
  const close = () => void navigate({ to: "/channels/$guildId", params: { guildId } });
  const list = (
    <>
      <div className="sidebar-header">
        <strong className="sidebar-title">
          <span>{guild.name}</span>
        </strong>
        <IconButton label={text("guildSettings.close")} onPress={close}>
          <X size={18} />
        </IconButton>
      </div>
      <nav className="channels" aria-label={text("guildSettings.title")}>
        {groups.length === 0 && <p className="channel-empty">{text("guildSettings.none")}</p>}
        {groups.map((group) => (
          <section key={group.title}>
            <h2 className="settings-group">{text(group.title)}</h2>
            <ul>
              {group.sections.map((section) => (
                <li key={section.id}>
                  <Link {...settingsLink(guildId, section.id)} className="channel-row">
                    {text(section.title)}
                  </Link>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </nav>
    </>
  );
  return (
    <Panes label={text("guildSettings.title")} sidebar={list} showsMain={current !== null}>
      <main id="main" className="main">
        {current !== null && (
          <>
            <span className="back">
              <IconButton
                label={text("common.back")}
                onPress={() => void navigate(settingsLink(guildId, itemId === null ? undefined : current.id))}
              >
                <ArrowLeft size={20} />
              </IconButton>
            </span>
            <header className="channel-header">
              <h1>{text(current.title)}</h1>
            </header>
            <div className="settings-scroll">
              <div className="settings-body" key={`${guildId} ${current.id}`}>
                <Suspense fallback={<Skeleton />}>
                  <current.View guild={guild} permissions={permissions} itemId={itemId} />
                </Suspense>
              </div>
            </div>
          </>
        )}
      </main>
    </Panes>
  );
}
