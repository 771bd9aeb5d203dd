import { Link, useNavigate } from "@tanstack/react-router";
import { Compass, MessageCircle, Plus } from "lucide-react";
import { useMemo, useRef } from "react";

import { useText } from "../../i18n/translate";
import {
  arrangeGuilds,
  dropEntry,
  entryKey,
  toFolders,
  type DropPlace,
  type RailEntry,
} from "../../store/folders";
import { incomingRequestCount } from "../../store/relationships";
import { orderedGuilds, messageRequests } from "../../store/selectors";
import { IconButton } from "../../ui/controls";
import { Dialog } from "../../ui/Dialog";
import { loaded } from "../../ui/loaded";
import { useRovingFocus } from "../../ui/roving";
import { Mentions } from "../channels/Mentions";
import { useDiscovery } from "../discovery/useDiscovery";
import { setOverlays, useOverlays } from "../overlays/overlays";
import { useAppState, useSession } from "../session/session";
import { changeSettings } from "../session/useSettings";
import { newFolderId } from "./rail";
import { RailFolder } from "./RailFolder";
import { RailGuild } from "./RailGuild";
import "./rail.css";

const AddGuild = loaded(async () => ({ default: (await import("./AddGuild")).AddGuild }));

/** The list of the user's guilds, with direct messages above them. */
export function GuildRail() {
  const text = useText();
  const list = useRef<HTMLElement>(null);
  useRovingFocus(list);
  const session = useSession();
  const navigate = useNavigate();
  const hasDiscovery = useDiscovery();
  const guilds = useAppState(orderedGuilds);
  const loading = useAppState((state) => state.loadingGuilds);
  const folders = useAppState((state) => state.settings.guild_folders);
  const channels = useAppState((state) => state.channels);
  const isAdding = useOverlays().dialog === "addGuild";
  const setAdding = (isOpen: boolean) => setOverlays({ dialog: isOpen ? "addGuild" : null });
  const entries = useMemo(
    () =>
      arrangeGuilds(
        guilds.map((guild) => guild.id),
        folders,
      ),
    [guilds, folders],
  );
  const byId = useMemo(() => new Map(guilds.map((guild) => [guild.id, guild])), [guilds]);
  const directIds = useMemo(
    () => Object.values(channels).flatMap((channel) => ("recipients" in channel ? [channel.id] : [])),
    [channels],
  );
  const save = async (changed: readonly RailEntry[]) => {
    const guild_folders = toFolders(changed);
    session.store.dispatch("USER_SETTINGS_UPDATE", { guild_folders });
    try {
      await changeSettings(session, { guild_folders });
    } catch (error) {
      session.store.dispatch("USER_SETTINGS_UPDATE", { guild_folders: folders });
      throw error;
    }
  };
  const change = (changed: readonly RailEntry[]) => void save(changed).catch(() => undefined);
  const drop = (draggedKey: string, targetKey: string, place: DropPlace) =>
    change(dropEntry(entries, draggedKey, targetKey, place, newFolderId(entries)));
  const rail = { entries, change, save, drop };
  return (
    <nav ref={list} className="rail" aria-label={text("guild.list")}>
      <Link
        to="/channels/@me"
        className="rail-item"
        title={text("direct.title")}
        activeOptions={{ exact: false }}
      >
        <span className="visually-hidden">{text("direct.title")}</span>
        <span className="rail-direct">
          <MessageCircle size={22} aria-hidden="true" />
        </span>
        <DirectCount channelIds={directIds} />
      </Link>
      <ul>
        {entries.map((entry) => {
          const listed = entry.guildIds.flatMap((id) => byId.get(id) ?? []);
          const [first] = listed;
          return entry.folder === null ? (
            first && <RailGuild key={first.id} guild={first} rail={rail} />
          ) : (
            <RailFolder key={entryKey(entry)} folder={entry.folder} guilds={listed} rail={rail} />
          );
        })}
        {loading
          .filter((id) => !byId.has(id))
          .map((id) => (
            <li key={id} className="rail-item" aria-hidden="true">
              <span className="skeleton rail-skeleton" />
            </li>
          ))}
      </ul>
      {hasDiscovery && (
        <IconButton
          label={text("guild.discover")}
          onPress={() => void navigate({ to: "/app/discover/{-$guildId}", params: { guildId: undefined } })}
        >
          <Compass size={20} />
        </IconButton>
      )}
      <IconButton label={text("guild.create")} onPress={() => setAdding(true)}>
        <Plus size={20} />
      </IconButton>
      {isAdding && (
        <Dialog title={text("guild.create.title")} onClose={() => setAdding(false)}>
          <AddGuild onDone={() => setAdding(false)} />
        </Dialog>
      )}
    </nav>
  );
}

/** What waits among direct messages and friends: mentions, friend requests and message requests. */
function DirectCount({ channelIds }: { channelIds: readonly string[] }) {
  const text = useText();
  const requests = useAppState((state) => incomingRequestCount(state) + messageRequests(state).length);
  const mentions = useAppState((state) =>
    channelIds.reduce((sum, id) => sum + (state.readStates[id]?.mentions ?? 0), 0),
  );
  if (requests === 0) {
    return <Mentions channelIds={channelIds} />;
  }
  const count = requests + mentions;
  return (
    <span className="mentions" role="img" aria-label={text("direct.waiting", { count })}>
      {count > 99 ? "99+" : count}
    </span>
  );
}
