import type { APIChannel, APIEmoji } from "discord-api-types/v10";
import { EmojiPicker as Picker } from "frimousse";
import { useState } from "react";
import { useIntl } from "react-intl";
import { Button as AriaButton } from "react-aria-components";

import { emojiUrl } from "../../api/images";
import { matchLocale } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { useSession } from "../session/session";
import { bestMatches, emojiMarkup, usableEmojis } from "../completion/completion";
import type { Reference } from "../completion/references";
import "./emoji.css";

const MAX_CUSTOM = 250;

/** An emoji that was picked. */
export interface PickedEmoji {
  /** Null for standard emojis. */
  id: string | null;
  name: string;
  /** What is inserted into a text, as a reference for custom emojis. */
  text: string;
  reference: Reference | null;
}

interface EmojiPickerProps {
  channel: APIChannel | undefined;
  onSelect: (emoji: PickedEmoji) => void;
}

/** Custom emojis and all standard ones with search; loaded when it is first opened. Its data comes from this server. */
export default function EmojiPicker({ channel, onSelect }: EmojiPickerProps) {
  const text = useText();
  const { locale } = useIntl();
  const { store } = useSession();
  const [search, setSearch] = useState("");
  const [usable] = useState(() => (channel === undefined ? [] : usableEmojis(store.state, channel)));
  const custom =
    search === ""
      ? usable.slice(0, MAX_CUSTOM)
      : bestMatches(usable, search, (emoji) => [emoji.name ?? ""], MAX_CUSTOM);
  return (
    <Picker.Root
      className="emoji-picker"
      emojibaseUrl={`${location.origin}/app/emojibase`}
      locale={matchLocale([locale])}
      onEmojiSelect={({ emoji }) => onSelect({ id: null, name: emoji, text: emoji, reference: null })}
    >
      <Picker.Search
        className="emoji-search"
        autoFocus
        aria-label={text("composer.emoji")}
        placeholder={text("field.picker.search")}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      {custom.length > 0 && (
        <div className="emoji-custom" role="group" aria-label={text("composer.emoji.custom")}>
          {custom.map((emoji) => (
            <CustomEmoji key={emoji.id} emoji={emoji} onSelect={onSelect} />
          ))}
        </div>
      )}
      <Picker.Viewport className="emoji-viewport">
        <Picker.Loading>{text("app.loading")}</Picker.Loading>
        <Picker.Empty>{text("composer.emoji.none")}</Picker.Empty>
        <Picker.List />
      </Picker.Viewport>
    </Picker.Root>
  );
}

function CustomEmoji({ emoji, onSelect }: { emoji: APIEmoji; onSelect: (emoji: PickedEmoji) => void }) {
  const name = emoji.name ?? "";
  const text = `:${name}:`;
  const reference = { text, markup: emojiMarkup(emoji) };
  return (
    <AriaButton aria-label={text} onPress={() => onSelect({ id: emoji.id, name, text, reference })}>
      <img src={emojiUrl(emoji.id ?? "", 28)} alt="" title={text} width={28} height={28} loading="lazy" />
    </AriaButton>
  );
}
