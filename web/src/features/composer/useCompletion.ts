import { useDeferredValue, useEffect, useMemo, useState, type KeyboardEvent } from "react";
import type { APIChannel } from "discord-api-types/v10";
import { useIntl } from "react-intl";

import { matchLocale } from "../../i18n/messages";
import { guildIdOf } from "../../store/channels";
import { useCommandIndex } from "../commands/commandIndex";
import { commandLeaves, matchCommands, type CommandLeaf } from "../commands/options";
import { useAppState, useSession } from "../session/session";
import {
  channelCompletions,
  emojiCompletions,
  findTrigger,
  mentionCompletions,
  type Completion,
  type StandardEmoji,
  type Trigger,
} from "../completion/completion";
import { loadStandardEmojis } from "../completion/standardEmojis";
import { useMemberSearch } from "../completion/useMemberSearch";

export interface CompletionState {
  trigger: Trigger | null;
  completions: readonly Completion[];
  commands: readonly CommandLeaf[];
  /** The standard emojis, once they are loaded. */
  standard: readonly StandardEmoji[];
  /** Whether the commands of the channel are being loaded, or could not be. */
  commandStatus: "loading" | "failed" | "loaded";
  active: number;
  setActive: (index: number) => void;
  /** Whether the key was one of the list's: the arrows, Enter, Tab or Escape. */
  onKeyDown: (event: KeyboardEvent, choose: (index: number) => void) => boolean;
}

/** What can stand in place of the text before the caret, and which of it is active. */
export function useCompletion(
  channel: APIChannel,
  text: string,
  caret: number,
  withCommands: boolean,
): CompletionState {
  const [dismissed, setDismissed] = useState<string | null>(null);
  const typed = useMemo(() => {
    const match = findTrigger(text, caret);
    return match?.kind === "command" && !withCommands ? null : match;
  }, [text, caret, withCommands]);
  const key = typed && `${typed.kind} ${typed.start}`;
  const trigger = key === dismissed ? null : typed;
  const { completions, commands, commandStatus, standard } = useItems(channel, trigger);
  const [position, setPosition] = useState({ key: "", index: 0 });
  const count = trigger?.kind === "command" ? commands.length : completions.length;
  const itemsKey = `${key ?? ""} ${trigger?.query ?? ""}`;
  const active = position.key === itemsKey ? Math.min(position.index, Math.max(0, count - 1)) : 0;
  const setActive = (index: number) => setPosition({ key: itemsKey, index });
  const onKeyDown = (event: KeyboardEvent, choose: (index: number) => void): boolean => {
    if (trigger === null || event.nativeEvent.isComposing) {
      return false;
    }
    if (event.key === "Escape") {
      setDismissed(key);
      return true;
    }
    if (count === 0) {
      return false;
    }
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      setActive((active + (event.key === "ArrowDown" ? 1 : count - 1)) % count);
      return true;
    }
    if ((event.key === "Enter" && !event.shiftKey) || (event.key === "Tab" && !event.shiftKey)) {
      choose(active);
      return true;
    }
    return false;
  };
  return { trigger, completions, commands, standard, commandStatus, active, setActive, onKeyDown };
}

function useItems(channel: APIChannel, trigger: Trigger | null) {
  const { store } = useSession();
  const guildId = guildIdOf(channel);
  const members = useAppState((state) => (guildId === null ? null : state.members[guildId]));
  const standard = useStandardEmojis(trigger?.kind === "emoji");
  const query = useDeferredValue(trigger?.query ?? "");
  const kind = trigger?.kind ?? null;
  useMemberSearch(guildId, kind === "mention" ? query : "");
  const { index, failed } = useCommandIndex(channel.id, kind === "command");
  const leaves = useMemo(() => (index === null ? [] : commandLeaves(index)), [index]);
  const completions = useMemo((): readonly Completion[] => {
    switch (kind) {
      case "mention":
        return mentionCompletions(store.state, channel, query);
      case "channel":
        return channelCompletions(store.state, guildId, query);
      case "emoji":
        return emojiCompletions(store.state, channel, standard, query);
      default:
        return [];
    }
    // Members are those that the server has sent, more after a search.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [kind, query, channel, guildId, standard, store, members]);
  const commands = useMemo(
    () => (kind === "command" ? matchCommands(leaves, query) : []),
    [kind, leaves, query],
  );
  const commandStatus: CompletionState["commandStatus"] =
    index !== null ? "loaded" : failed ? "failed" : "loading";
  return { completions, commands, commandStatus, standard };
}

const NO_EMOJIS: readonly StandardEmoji[] = [];

function useStandardEmojis(enabled: boolean): readonly StandardEmoji[] {
  const { locale } = useIntl();
  const [emojis, setEmojis] = useState(NO_EMOJIS);
  useEffect(() => {
    if (!enabled) {
      return undefined;
    }
    let current = true;
    loadStandardEmojis(matchLocale([locale])).then(
      (loaded) => current && setEmojis(loaded),
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [enabled, locale]);
  return emojis;
}
