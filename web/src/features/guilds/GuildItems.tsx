import { acknowledgeGuild } from "../../api/joining";
import { useText } from "../../i18n/translate";
import type { GuildState } from "../../store/state";
import { MenuItem } from "../../ui/Menu";
import { changeGuildSettings, type Mute } from "../notifications/mute";
import { MuteItems } from "../notifications/MuteItems";
import { useAppState, useSession } from "../session/session";

interface GuildItemsProps {
  guild: GuildState;
  onNotifications: () => void;
}

/** The items of a guild's menu that mark it as read and quieten it. */
export function GuildItems({ guild, onNotifications }: GuildItemsProps) {
  const text = useText();
  const session = useSession();
  const settings = useAppState((state) => state.guildSettings[guild.id]);
  const mute = (changes: Mute) => changeGuildSettings(session, guild.id, changes);
  return (
    <>
      <MenuItem onAction={() => void acknowledgeGuild(session.api, guild.id).catch(() => undefined)}>
        {text("common.markRead")}
      </MenuItem>
      <MuteItems value={settings} onChange={(changes) => void mute(changes).catch(() => undefined)} />
      <MenuItem onAction={onNotifications}>{text("settings.notifications")}</MenuItem>
    </>
  );
}
