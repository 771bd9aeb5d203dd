import { useCallback, useState } from "react";

import type { Part } from "../../i18n/messages";
import { WithTexts } from "../../i18n/translate";
import { COMMAND_SIGN, type Command } from "../switcher/command";
import { Switcher } from "../switcher/Switcher";
import { useCommands } from "./useCommands";

/** The texts of the settings, whose sections are commands. */
const PARTS: readonly Part[] = ["settings", "guild_settings", "channels"];
const NONE: readonly Command[] = [];

interface PaletteProps {
  /** Whether it begins with the commands alone. */
  onlyCommands: boolean;
  onClose: () => void;
}

/** The switcher with the commands of all that has a menu. The places are there before the commands' texts are. */
export default function Palette({ onlyCommands, onClose }: PaletteProps) {
  const [commands, setCommands] = useState(NONE);
  const collect = useCallback((collected: readonly Command[]) => setCommands(collected), []);
  return (
    <>
      <Switcher commands={commands} initial={onlyCommands ? COMMAND_SIGN : ""} onClose={onClose} />
      <WithTexts parts={PARTS}>
        <Collector onCollect={collect} />
      </WithTexts>
    </>
  );
}

function Collector({ onCollect }: { onCollect: (commands: readonly Command[]) => void }) {
  useCommands(onCollect);
  return null;
}
