import { Folder } from "lucide-react";
import { useMemo, useState, type CSSProperties } from "react";
import { Button as AriaButton } from "react-aria-components";

import { guildIconUrl } from "../../api/images";
import { useText } from "../../i18n/translate";
import { changeFolder, moveEntry, toFolders, type RailEntry } from "../../store/folders";
import { guildIdOf } from "../../store/channels";
import type { GuildState } from "../../store/state";
import { Avatar } from "../../ui/controls";
import { ContextMenu, MenuItem } from "../../ui/Menu";
import { loaded } from "../../ui/loaded";
import { Mentions } from "../channels/Mentions";
import { useAppState } from "../session/session";
import type { Rail } from "./rail";
import { RailGuild } from "./RailGuild";
import { useDrag } from "./useDrag";

const FolderDialog = loaded(() => import("./FolderDialog"));
const OPEN = "moothall.folder.";

interface RailFolderProps {
  folder: NonNullable<RailEntry["folder"]>;
  guilds: readonly GuildState[];
  rail: Rail;
}

/** Guilds of the rail that stand together; closed it shows the icons of the first four. */
export function RailFolder({ folder, guilds, rail }: RailFolderProps) {
  const text = useText();
  const key = `folder ${folder.id}`;
  const drag = useDrag(key, rail);
  const [open, setOpen] = useState(() => localStorage.getItem(OPEN + String(folder.id)) !== null);
  const [editing, setEditing] = useState(false);
  const channels = useAppState((state) => state.channels);
  const channelIds = useMemo(() => {
    const guildIds = new Set(guilds.map((guild) => guild.id));
    return Object.values(channels)
      .filter((channel) => guildIds.has(guildIdOf(channel) ?? ""))
      .map((channel) => channel.id);
  }, [channels, guilds]);
  const name = folder.name ?? guilds.map((guild) => guild.name).join(", ");
  const toggle = () => {
    setOpen(!open);
    if (open) {
      localStorage.removeItem(OPEN + String(folder.id));
    } else {
      localStorage.setItem(OPEN + String(folder.id), "1");
    }
  };
  const style =
    folder.color === null
      ? undefined
      : ({ "--folder-color": `#${folder.color.toString(16).padStart(6, "0")}` } as CSSProperties);
  const { entries, change, save } = rail;
  const menu = (
    <>
      <MenuItem onAction={() => setEditing(true)}>{text("rail.editFolder")}</MenuItem>
      <MenuItem onAction={() => change(moveEntry(entries, key, -1))}>{text("rail.up")}</MenuItem>
      <MenuItem onAction={() => change(moveEntry(entries, key, 1))}>{text("rail.down")}</MenuItem>
      <MenuItem onAction={() => change(changeFolder(entries, folder.id, null))}>
        {text("rail.ungroup")}
      </MenuItem>
    </>
  );
  return (
    <li className="rail-folder" style={style} data-open={open || undefined}>
      <div {...drag}>
        <ContextMenu label={text("rail.folderMenu", { name })} menu={menu}>
          <AriaButton className="rail-folder-button" aria-expanded={open} onPress={toggle}>
            <span className="visually-hidden">{name}</span>
            {open ? (
              <Folder size={22} aria-hidden="true" />
            ) : (
              <span className="rail-folder-icons" aria-hidden="true">
                {guilds.slice(0, 4).map((guild) => (
                  <Avatar
                    key={guild.id}
                    url={guildIconUrl(guild.id, guild.icon, 18)}
                    name={guild.name}
                    size={18}
                    tile
                  />
                ))}
              </span>
            )}
            {!open && <Mentions channelIds={channelIds} />}
          </AriaButton>
        </ContextMenu>
      </div>
      {open && (
        <ul>
          {guilds.map((guild) => (
            <RailGuild key={guild.id} guild={guild} rail={rail} />
          ))}
        </ul>
      )}
      {editing && (
        <FolderDialog
          folder={folder}
          path={`guild_folders.${toFolders(entries).findIndex(({ id }) => id === folder.id)}`}
          onSave={(changes) => save(changeFolder(entries, folder.id, changes))}
          onClose={() => setEditing(false)}
        />
      )}
    </li>
  );
}
