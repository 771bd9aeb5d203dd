import { useQuery } from "@tanstack/react-query";
import type { APISoundboardSound } from "discord-api-types/v10";
import { Search } from "lucide-react";
import { useState } from "react";
import { Button as AriaButton } from "react-aria-components";

import { Permission } from "../../api/enums";
import { listDefaultSounds, listSounds, playSound } from "../../api/expressions";
import { emojiUrl } from "../../api/images";
import { useText } from "../../i18n/translate";
import { has } from "../../store/permissions";
import { orderedGuilds } from "../../store/selectors";
import { SearchField } from "../../ui/fields";
import { WithChannelTexts } from "../../i18n/WithChannelTexts";
import { ErrorNotice } from "../session/ErrorNotice";
import { Queries } from "../session/queries";
import { useAppState, useSession } from "../session/session";
import { useAction } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";
import { requestSounds } from "./guildSounds";
import "../media/expressions.css";

interface SoundboardProps {
  channelId: string;
  guildId: string;
}

/** The sounds that can be played in a voice channel: those of its guild, of others where that is allowed, and default ones. */
export default function Soundboard(props: SoundboardProps) {
  return (
    <Queries>
      <WithChannelTexts>
        <Sounds {...props} />
      </WithChannelTexts>
    </Queries>
  );
}

function Sounds({ channelId, guildId }: SoundboardProps) {
  const text = useText();
  const session = useSession();
  const { api } = session;
  const action = useAction();
  const [query, setQuery] = useState("");
  const guilds = useAppState(orderedGuilds);
  const mayUseOthers = has(
    useChannelPermissions(useAppState((state) => state.channels[channelId])),
    Permission.UseExternalSounds,
  );
  const otherIds = mayUseOthers ? guilds.map(({ id }) => id).filter((id) => id !== guildId) : [];
  const own = useQuery({ queryKey: ["guild", guildId, "sounds"], queryFn: () => listSounds(api, guildId) });
  const defaults = useQuery({
    queryKey: ["default sounds"],
    queryFn: () => listDefaultSounds(api),
    staleTime: Infinity,
  });
  const others = useQuery({
    queryKey: ["sounds of guilds", otherIds],
    queryFn: () => requestSounds(session, otherIds),
  });
  const matches = ({ name, available }: APISoundboardSound) =>
    available && name.toLowerCase().includes(query.trim().toLowerCase());
  const nameOf = (id: string) => guilds.find((guild) => guild.id === id)?.name ?? "";
  const groups = [
    { id: guildId, name: nameOf(guildId), sounds: (own.data ?? []).filter(matches) },
    ...otherIds.map((id) => ({ id, name: nameOf(id), sounds: (others.data?.[id] ?? []).filter(matches) })),
    { id: "default", name: text("soundboard.default"), sounds: (defaults.data ?? []).filter(matches) },
  ].filter(({ sounds }) => sounds.length > 0);
  return (
    <div className="expression-picker">
      <SearchField
        label={text("soundboard.search")}
        icon={<Search size={16} aria-hidden="true" />}
        value={query}
        onChange={setQuery}
        autoFocus
      />
      <ErrorNotice error={action.error ?? own.error ?? defaults.error} />
      <div className="expression-groups">
        {groups.map(({ id, name, sounds }) => (
          <section key={id} aria-label={name}>
            <h3>{name}</h3>
            <div className="expression-grid soundboard-grid">
              {sounds.map((sound) => (
                <AriaButton
                  key={sound.sound_id}
                  className="soundboard-sound"
                  onPress={() => void action.run(() => playSound(api, channelId, sound))}
                >
                  <SoundEmoji sound={sound} />
                  <span title={sound.name}>{sound.name}</span>
                </AriaButton>
              ))}
            </div>
          </section>
        ))}
        {groups.length === 0 && (
          <p className="emoji-loading" role="status">
            {text(own.isPending || defaults.isPending ? "app.loading" : "soundboard.none")}
          </p>
        )}
      </div>
    </div>
  );
}

function SoundEmoji({ sound }: { sound: APISoundboardSound }) {
  return (
    <span className="soundboard-emoji" aria-hidden="true">
      {sound.emoji_id ? <img src={emojiUrl(sound.emoji_id, 24)} alt="" /> : (sound.emoji_name ?? "♪")}
    </span>
  );
}
