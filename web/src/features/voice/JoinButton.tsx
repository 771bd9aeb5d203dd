import type { APIChannel } from "discord-api-types/v10";
import { LogIn } from "lucide-react";

import { Permission } from "../../api/enums";
import { useText } from "../../i18n/translate";
import { has } from "../../store/permissions";
import { useAppState } from "../session/session";
import { useChannelPermissions } from "../session/usePermissions";
import { preloadVoice } from "./preload";
import { useVoice } from "./useVoice";

/** Joins a voice channel from the list of channels, by one click. The document's own, as lists may have many. */
export function JoinButton({ channel, guildId }: { channel: APIChannel; guildId: string }) {
  const text = useText();
  const { own, join } = useVoice(guildId);
  const mayJoin = has(useChannelPermissions(channel), Permission.Connect);
  const name = useAppState((state) => {
    const current = state.channels[channel.id];
    return current !== undefined && "name" in current ? (current.name ?? "") : "";
  });
  return mayJoin && own?.channel_id !== channel.id ? (
    <button
      type="button"
      className="channel-edit channel-join"
      data-beside
      aria-label={text("voice.joinNamed", { name })}
      onPointerEnter={preloadVoice}
      onFocus={preloadVoice}
      onClick={() => {
        preloadVoice();
        join(channel.id);
      }}
    >
      <LogIn size={15} aria-hidden="true" />
    </button>
  ) : null;
}
