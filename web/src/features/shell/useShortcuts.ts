import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { ChannelType } from "../../api/enums";
import { acknowledgeMessage } from "../../api/messages";
import { compareIds } from "../../store/records";
import { isUnread } from "../../store/reading";
import { directMessages, orderedGuilds, visibleChannelGroups } from "../../store/selectors";
import { getVoiceStatus, toggleSelfDeaf, toggleSelfMute } from "../../voice/status";
import { getKeybinds } from "../keybinds/keybinds";
import { actionOf, type ShortcutAction } from "../keybinds/shortcuts";
import { useSession, type Session } from "../session/session";
import { usePath } from "../session/usePath";
import { getOverlays, setOverlays } from "../overlays/overlays";
import { openPanel } from "../overlays/panels";
import { neighbour, neighbourIn } from "./neighbours";

const LISTED_ONLY: ReadonlySet<ChannelType> = new Set([ChannelType.GuildCategory]);

/** The keys that work everywhere: between channels and guilds, for dialogs, and for marking channels as read. */
export function useShortcuts(): void {
  const session = useSession();
  const navigate = useNavigate();
  const params = usePath();
  const latest = useRef(params);
  useEffect(() => {
    latest.current = params;
  }, [params]);
  useEffect(() => {
    const openChannel = (guildId: string | null, channelId: string | null) => {
      if (channelId !== null) {
        void (guildId === null
          ? navigate({ to: "/channels/@me/$channelId", params: { channelId } })
          : navigate({ to: "/channels/$guildId/$channelId", params: { guildId, channelId } }));
      }
    };
    const run = (action: ShortcutAction): boolean => {
      const guildId = guildOf(latest.current.guildId);
      const channelId = latest.current.channelId ?? null;
      const { state } = session.store;
      switch (action) {
        case "switcher":
        case "palette":
        case "shortcuts":
          setOverlays({ dialog: getOverlays().dialog === action ? null : action });
          return true;
        case "search":
          if (guildId === null && channelId === null) {
            return false;
          }
          openPanel({ kind: "search" });
          document.querySelector<HTMLElement>(".search input")?.focus();
          return true;
        case "nextChannel":
        case "previousChannel":
          openChannel(guildId, neighbour(channelIds(session, guildId), channelId, directionOf(action)));
          return true;
        case "nextUnread":
        case "previousUnread": {
          const unread = (id: string) => {
            const channel = state.channels[id];
            return channel !== undefined && isUnread(state, channel);
          };
          const ids = channelIds(session, guildId);
          openChannel(guildId, neighbourIn(ids, channelId, directionOf(action), unread));
          return true;
        }
        case "nextGuild":
        case "previousGuild": {
          const ids = orderedGuilds(state).map((guild) => guild.id);
          const next = neighbour(ids, guildId, directionOf(action));
          if (next !== null) {
            void navigate({ to: "/channels/$guildId", params: { guildId: next } });
          }
          return true;
        }
        case "mute":
        case "deafen": {
          const isConnected = getVoiceStatus().phase !== null;
          if (isConnected) {
            (action === "mute" ? toggleSelfMute : toggleSelfDeaf)();
          }
          return isConnected;
        }
        case "markRead":
          return channelId !== null && markRead(session, channelId);
      }
    };
    const onKeyDown = (event: KeyboardEvent) => {
      const isOthers = event.defaultPrevented || event.isComposing;
      const action = isOthers ? null : actionOf(event, getKeybinds(session.account.userId));
      if (action === null) {
        typeIntoComposer(event);
        return;
      }
      // A dialog has the keys for itself, except those that open and close it.
      if (isDialogOpen() && getOverlays().dialog !== action) {
        return;
      }
      if (run(action)) {
        event.preventDefault();
      }
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, [session, navigate]);
}

function guildOf(guildId: string | undefined): string | null {
  return guildId === undefined || guildId === "@me" ? null : guildId;
}

function directionOf(action: ShortcutAction): 1 | -1 {
  return action.startsWith("next") ? 1 : -1;
}

/** The channels of the list beside the current one, in its order. */
function channelIds(session: Session, guildId: string | null): string[] {
  const { state } = session.store;
  const channels =
    guildId === null
      ? directMessages(state)
      : visibleChannelGroups(state, guildId).flatMap((group) => group.channels);
  return channels.filter((channel) => !LISTED_ONLY.has(channel.type)).map((channel) => channel.id);
}

/** Mark a channel as read; returns whether there was anything to mark. */
function markRead(session: Session, channelId: string): boolean {
  const { api, store } = session;
  const channel = store.state.channels[channelId];
  const newest = channel !== undefined && "last_message_id" in channel ? channel.last_message_id : null;
  const readId = store.state.readStates[channelId]?.lastMessageId ?? "0";
  if (!newest || compareIds(newest, readId) <= 0) {
    return false;
  }
  store.dispatch("MESSAGE_ACK", { channel_id: channelId, message_id: newest, mention_count: 0 });
  void acknowledgeMessage(api, channelId, newest).catch(() => undefined);
  return true;
}

function isDialogOpen(): boolean {
  return document.querySelector('[role="dialog"], [role="alertdialog"], [role="menu"]') !== null;
}

/** A letter that is typed where no control takes it goes into the composer. */
function typeIntoComposer(event: KeyboardEvent): void {
  const isLetter =
    event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey;
  const { activeElement } = document;
  const isIdle =
    activeElement === null ||
    activeElement === document.body ||
    activeElement.matches("#messages, article.message");
  if (isLetter && isIdle && !event.defaultPrevented && !isDialogOpen()) {
    document.querySelector<HTMLElement>(".composer textarea")?.focus();
  }
}
