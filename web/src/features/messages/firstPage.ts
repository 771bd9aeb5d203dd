import { ChannelType } from "../../api/enums";
import { isForum } from "../../store/channels";
import type { Session } from "../session/session";
import { loadAround, loadNewest } from "./history";

const CHANNEL_PATH = /^\/channels\/(\d+|@me)\/(\d+)(?:\/(\d+))?\/?$/;

/** Whether a path is that of a channel. */
export function isChannelPath(path: string): boolean {
  return CHANNEL_PATH.test(path);
}

/**
 * Request the messages that a path shows as soon as the session has their channel, before the screen around them is
 * drawn. Not earlier: what changes between the request and the session's start would be missed.
 */
export function loadFirstPage(session: Session, path: string): void {
  const [, guildId, channelId, messageId] = CHANNEL_PATH.exec(path) ?? [];
  if (guildId === undefined || channelId === undefined) {
    return;
  }
  const load = () => {
    const channel = session.store.state.channels[channelId];
    if (channel !== undefined && !isForum(channel) && channel.type !== ChannelType.GuildCategory) {
      void (
        messageId === undefined ? loadNewest(session, channelId) : loadAround(session, channelId, messageId)
      ).catch(() => undefined);
    }
  };
  const { ready, guilds } = session.store.state;
  if (guildId === "@me" ? ready : guilds[guildId] !== undefined) {
    load();
    return;
  }
  const stop = session.store.observe((name, data) => {
    const isLoaded =
      guildId === "@me"
        ? name === "READY"
        : name === "GUILD_CREATE" && (data as { id: string }).id === guildId;
    if (isLoaded) {
      stop();
      load();
    }
  });
}
