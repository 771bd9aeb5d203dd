import { useState } from "react";

import { acknowledgeGuild } from "../../api/joining";
import { useText } from "../../i18n/translate";
import { isGuildMuted } from "../../store/settings";
import type { GuildState } from "../../store/state";
import { MenuItem } from "../../ui/Menu";
import { changeGuildSettings, muteFor, UNMUTED } from "../notifications/mute";
import { useAppState, useSession } from "../session/session";

interface GuildItemsProps {
  guild: GuildState;
  onNotifications: () => void;
}

/** The items of a guild's menu that mark it as read and quieten it. */
export function GuildItems({ guild, onNotifications }: GuildItemsProps) {
  const text = useText();
  const session = useSession();
  const [now] = useState(() => Date.now());
  const muted = useAppState((state) => isGuildMuted(state, guild.id, now));
  const toggleMute = () =>
    changeGuildSettings(session, guild.id, muted ? UNMUTED : muteFor(null, Date.now()));
  return (
    <>
      <MenuItem onAction={() => void acknowledgeGuild(session.api, guild.id).catch(() => undefined)}>
        {text("common.markRead")}
      </MenuItem>
      <MenuItem onAction={() => void toggleMute().catch(() => undefined)}>
        {text(muted ? "mute.unmute" : "mute.mute")}
      </MenuItem>
      <MenuItem onAction={onNotifications}>{text("settings.notifications")}</MenuItem>
    </>
  );
}
