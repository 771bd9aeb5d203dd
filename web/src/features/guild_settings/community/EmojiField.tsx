import { Smile, X } from "lucide-react";

import { emojiUrl } from "../../../api/images";
import { useText } from "../../../i18n/translate";
import type { GuildState } from "../../../store/state";
import { IconButton } from "../../../ui/controls";
import { Select } from "../../../ui/Select";
import { EmojiButton } from "../EmojiButton";
import { optional } from "../options";

export interface ChosenEmoji {
  /** Of an emoji of the guild. */
  id: string | null;
  /** A Unicode emoji, or the name of the guild's one. */
  name: string | null;
}

interface EmojiFieldProps {
  guild: GuildState;
  value: ChosenEmoji;
  onChange: (emoji: ChosenEmoji) => void;
  error?: string | undefined;
}

/** An emoji of the guild, a Unicode one, or none. */
export function EmojiField({ guild, value, onChange, error }: EmojiFieldProps) {
  const text = useText();
  const own = guild.emojis.map((emoji) => ({ id: emoji.id ?? "", name: `:${emoji.name ?? ""}:` }));
  return (
    <div className="settings-bar">
      <span>{text("guildSettings.emoji")}:</span>
      {value.id !== null ? (
        <img src={emojiUrl(value.id, 24)} alt={value.name ?? ""} width={24} height={24} />
      ) : (
        <span>{value.name ?? text("guildSettings.noneChosen")}</span>
      )}
      <EmojiButton
        label={text("guildSettings.roles.emoji.choose")}
        icon={<Smile size={18} />}
        onSelect={(emoji) => onChange({ id: null, name: emoji })}
      />
      {(value.id !== null || value.name !== null) && (
        <IconButton
          label={text("guildSettings.emoji.remove")}
          onPress={() => onChange({ id: null, name: null })}
        >
          <X size={18} />
        </IconButton>
      )}
      {own.length > 0 && (
        <Select
          label={text("guildSettings.emoji.own")}
          value={value.id ?? ""}
          options={optional(own, text("guildSettings.noneChosen"))}
          onChange={(id) => onChange({ id: id === "" ? null : id, name: null })}
        />
      )}
      {error !== undefined && <span className="field-error">{error}</span>}
    </div>
  );
}
