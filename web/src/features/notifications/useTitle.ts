import { useEffect } from "react";

import { mentionCount } from "../../store/reading";
import { useAppState } from "../session/session";
import { usePreferences } from "../preferences/preferences";
import { drawIcon } from "./icon";

const NAME = "Moothall";

/** Shows the number of mentions in the page's title, its icon and that of the installed app. */
export function useTitle(): void {
  const { titleCount } = usePreferences();
  const count = useAppState(mentionCount);
  const shown = titleCount ? count : 0;
  useEffect(() => {
    document.title = shown === 0 ? NAME : `(${shown}) ${NAME}`;
    void drawIcon(shown);
    badge(shown);
    return () => {
      document.title = NAME;
      void drawIcon(0);
      badge(0);
    };
  }, [shown]);
}

/** Put a number onto the icon of the installed app; 0 removes it. Where there is none, nothing happens. */
function badge(count: number): void {
  const { setAppBadge, clearAppBadge } = navigator as Partial<Navigator>;
  const done = count === 0 ? clearAppBadge?.call(navigator) : setAppBadge?.call(navigator, count);
  void done?.catch(() => undefined);
}
