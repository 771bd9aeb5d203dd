import { useEffect } from "react";

import { mentionCount } from "../../store/reading";
import { useAppState } from "../session/session";
import { usePreferences } from "../preferences/preferences";
import { drawIcon } from "./icon";

const NAME = "Moothall";

/** Shows the number of mentions in the page's title and icon. */
export function useTitle(): void {
  const { titleCount } = usePreferences();
  const count = useAppState(mentionCount);
  const shown = titleCount ? count : 0;
  useEffect(() => {
    document.title = shown === 0 ? NAME : `(${shown}) ${NAME}`;
    void drawIcon(shown);
    return () => {
      document.title = NAME;
      void drawIcon(0);
    };
  }, [shown]);
}
