import type { APISoundboardSound } from "discord-api-types/v10";

import type { Session } from "../session/session";

/** After so long, guilds that have not answered are left out. */
const TIMEOUT_MS = 5_000;

type Sounds = Readonly<Record<string, readonly APISoundboardSound[]>>;

interface GuildSounds {
  guild_id: string;
  soundboard_sounds: readonly APISoundboardSound[];
}

/** Ask the gateway for the sounds of guilds; resolves to them by guild. */
export function requestSounds(
  { gateway, store }: Pick<Session, "gateway" | "store">,
  guildIds: readonly string[],
): Promise<Sounds> {
  const sounds: Record<string, readonly APISoundboardSound[]> = {};
  const missing = new Set(guildIds);
  if (missing.size === 0) {
    return Promise.resolve(sounds);
  }
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      stop();
      resolve(sounds);
    };
    const timer = setTimeout(finish, TIMEOUT_MS);
    const stop = store.observe((name, data) => {
      const answer = data as GuildSounds;
      if (name === "SOUNDBOARD_SOUNDS" && missing.delete(answer.guild_id)) {
        sounds[answer.guild_id] = answer.soundboard_sounds;
        if (missing.size === 0) {
          finish();
        }
      }
    });
    gateway.send({ type: "sounds", data: { guild_ids: guildIds } });
  });
}
