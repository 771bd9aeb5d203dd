import { useEffect } from "react";

import { guildIdOf } from "../../store/channels";
import { mentionCount } from "../../store/reading";
import { channelName } from "../../store/selectors";
import type { State } from "../../store/state";
import { useAppState } from "../session/session";
import { usePath, type Path } from "../session/usePath";
import { usePreferences } from "../preferences/preferences";
import { drawIcon } from "./icon";

const NAME = "Moothall";

/** Names the channel and the guild in the page's title, with the number of mentions, which the icons have too. */
export function useTitle(): void {
  const { titleCount } = usePreferences();
  const path = usePath();
  const count = useAppState(mentionCount);
  const title = useAppState((state) => titleOf(state, path));
  const shown = titleCount ? count : 0;
  useEffect(() => {
    document.title = shown === 0 ? title : `(${shown}) ${title}`;
  }, [shown, title]);
  useEffect(() => {
    void drawIcon(shown);
    badge(shown);
    return () => {
      document.title = NAME;
      void drawIcon(0);
      badge(0);
    };
  }, [shown]);
}

/** What is open, from the particular to the general. */
export function titleOf(state: State, { guildId, channelId }: Path): string {
  const channel = state.channels[channelId ?? ""];
  const guild = state.guilds[guildId ?? ""];
  const name = channel === undefined ? "" : channelName(state, channel);
  const shown = channel !== undefined && guildIdOf(channel) !== null ? `#${name}` : name;
  return [shown, guild?.name ?? "", NAME].filter((each) => each !== "").join(" · ");
}

/** Put a number onto the icon of the installed app; 0 removes it. Where there is none, nothing happens. */
function badge(count: number): void {
  const { setAppBadge, clearAppBadge } = navigator as Partial<Navigator>;
  const done = count === 0 ? clearAppBadge?.call(navigator) : setAppBadge?.call(navigator, count);
  void done?.catch(() => undefined);
}
