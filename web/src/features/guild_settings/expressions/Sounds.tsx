import type { APISoundboardSound } from "discord-api-types/v10";
import { Play, Smile, Square } from "lucide-react";
import { useEffect, useRef, useState } from "react";

import { Permission } from "../../../api/enums";
import {
  createSound,
  deleteSound,
  listSounds,
  modifySound,
  soundUrl,
  type SoundFields,
} from "../../../api/expressions";
import { useText } from "../../../i18n/translate";
import { has } from "../../../store/permissions";
import { Button, IconButton } from "../../../ui/controls";
import { TextField } from "../../../ui/TextField";
import { FileButton, readDataUri } from "../../../ui/fields";
import { NumberField } from "../../../ui/NumberField";
import { EmojiButton } from "../EmojiButton";
import { useAppState, useSession } from "../../session/session";
import { fieldError } from "../../session/useAction";
import { Loaded, useGuildQuery } from "../queries";
import type { SectionProps } from "../section";
import { EditDialog, ExpressionRow } from "./ExpressionRow";

/** The sounds of a guild: adds, plays, changes and deletes them. */
export default function Sounds({ guild, permissions }: SectionProps) {
  const text = useText();
  const { api } = useSession();
  const query = useGuildQuery(guild.id, "sounds", listSounds);
  const player = usePlayer();
  const [editing, setEditing] = useState<APISoundboardSound | "new" | null>(null);
  const userId = useAppState((state) => state.user?.id);
  const canManage = has(permissions, Permission.ManageGuildExpressions);
  return (
    <div className="settings-block">
      <p>{text("guildSettings.sounds.hint")}</p>
      {has(permissions, Permission.CreateGuildExpressions) && (
        <div className="settings-bar">
          <Button onPress={() => setEditing("new")}>{text("guildSettings.sounds.add")}</Button>
        </div>
      )}
      <Loaded query={query}>
        {(sounds) => (
          <>
            {sounds.length === 0 && <p className="settings-empty">{text("guildSettings.sounds.empty")}</p>}
            <ul className="settings-list" aria-label={text("guildSettings.sounds")}>
              {sounds.map((sound) => {
                const playing = player.current === sound.sound_id;
                return (
                  <ExpressionRow
                    key={sound.sound_id}
                    picture={<span className="expression-picture">{sound.emoji_name ?? "♪"}</span>}
                    name={sound.name}
                    creator={sound.user}
                    note={text("guildSettings.sounds.volumeNote", {
                      percent: Math.round(sound.volume * 100),
                    })}
                    canChange={canManage || sound.user?.id === userId}
                    onEdit={() => setEditing(sound)}
                    onDelete={async () => {
                      await deleteSound(api, guild.id, sound.sound_id);
                      await query.refetch();
                    }}
                  >
                    <IconButton
                      label={text(playing ? "guildSettings.sounds.stop" : "guildSettings.sounds.play", {
                        name: sound.name,
                      })}
                      aria-pressed={playing}
                      onPress={() => (playing ? player.stop() : player.play(sound))}
                    >
                      {playing ? <Square size={18} /> : <Play size={18} />}
                    </IconButton>
                  </ExpressionRow>
                );
              })}
            </ul>
          </>
        )}
      </Loaded>
      {editing !== null && (
        <SoundDialog
          guildId={guild.id}
          sound={editing === "new" ? null : editing}
          onClose={() => {
            setEditing(null);
            void query.refetch();
          }}
        />
      )}
    </div>
  );
}

/** Plays one sound at a time, with the volume that it has. */
function usePlayer() {
  const audio = useRef<HTMLAudioElement | null>(null);
  const [current, setCurrent] = useState<string | null>(null);
  const stop = () => {
    audio.current?.pause();
    audio.current = null;
    setCurrent(null);
  };
  useEffect(() => () => audio.current?.pause(), []);
  const play = (sound: APISoundboardSound) => {
    stop();
    const element = new Audio(soundUrl(sound.sound_id));
    element.volume = sound.volume;
    element.onended = () => setCurrent(null);
    audio.current = element;
    setCurrent(sound.sound_id);
    element.play().catch(() => setCurrent(null));
  };
  return { current, play, stop };
}

interface SoundDialogProps {
  guildId: string;
  /** Null for a new one. */
  sound: APISoundboardSound | null;
  onClose: () => void;
}

function SoundDialog({ guildId, sound, onClose }: SoundDialogProps) {
  const text = useText();
  const { api } = useSession();
  const [file, setFile] = useState<File | null>(null);
  const [fields, setFields] = useState<SoundFields>({
    name: sound?.name ?? "",
    volume: sound?.volume ?? 1,
    emoji_name: sound?.emoji_name ?? null,
  });
  const save = async () => {
    if (sound !== null) {
      await modifySound(api, guildId, sound.sound_id, fields);
    } else if (file !== null) {
      await createSound(api, guildId, { ...fields, sound: await readDataUri(file) });
    }
  };
  return (
    <EditDialog
      title={sound?.name ?? text("guildSettings.sounds.add")}
      shown={["name", "sound", "volume", "emoji_name"]}
      isDisabled={sound === null && file === null}
      onSave={save}
      onClose={onClose}
    >
      {(error) => (
        <>
          {sound === null && (
            <div className="settings-bar">
              <FileButton accept="audio/mpeg,audio/ogg,.mp3,.ogg" onChoose={setFile}>
                {text("guildSettings.chooseFile")}
              </FileButton>
              <span className="settings-count">{file?.name}</span>
              {fieldError(error, "sound") !== undefined && (
                <span className="field-error" role="alert">
                  {fieldError(error, "sound")}
                </span>
              )}
            </div>
          )}
          <TextField
            label={text("guildSettings.expressions.name")}
            value={fields.name}
            onChange={(name) => setFields({ ...fields, name })}
            isRequired
            maxLength={32}
            error={fieldError(error, "name")}
          />
          <NumberField
            label={text("guildSettings.sounds.volume")}
            value={Math.round(fields.volume * 100)}
            min={0}
            max={100}
            onChange={(percent) => setFields({ ...fields, volume: percent / 100 })}
            error={fieldError(error, "volume")}
          />
          <div className="settings-bar">
            <span>
              {text("guildSettings.emoji")}: {fields.emoji_name ?? text("guildSettings.noneChosen")}
            </span>
            <EmojiButton
              label={text("guildSettings.roles.emoji.choose")}
              icon={<Smile size={18} />}
              onSelect={(emoji) => setFields({ ...fields, emoji_name: emoji })}
            />
          </div>
        </>
      )}
    </EditDialog>
  );
}
