import { Navigate, useNavigate } from "@tanstack/react-router";

import type { Part } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { guildPermissions } from "../../store/permissions";
import { useAppState } from "../session/session";
import { SettingsFrame, SettingsScreen, SettingsSkeleton, showsBoth } from "../shell/SettingsFrame";
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
    <SettingsScreen parts={PARTS}>
      <Frame {...props} />
    </SettingsScreen>
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
  const first = sections[0];
  if (current === null && first !== undefined && (showsBoth() || sectionId !== null)) {
    return <Navigate {...settingsLink(guildId, first.id)} replace />;
  }
  return (
    <SettingsFrame
      label={text("guildSettings.title")}
      title={<span>{guild.name}</span>}
      closeLabel={text("guildSettings.close")}
      onClose={() => void navigate({ to: "/channels/$guildId", params: { guildId } })}
      groups={groups}
      none={text("guildSettings.none")}
      linkTo={(id) => settingsLink(guildId, id)}
      current={current}
      back={settingsLink(guildId, itemId === null ? undefined : current?.id)}
      contentKey={`${guildId} ${current?.id}`}
    >
      {current !== null && (
        <current.View
          fallback={<SettingsSkeleton />}
          guild={guild}
          permissions={permissions}
          itemId={itemId}
        />
      )}
    </SettingsFrame>
  );
}
