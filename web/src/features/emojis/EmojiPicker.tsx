import type { APIChannel, APIEmoji } from "discord-api-types/v10";
import { EmojiPicker as Picker } from "frimousse";
import { useRef, useState } from "react";
import { useIntl } from "react-intl";
import { Button as AriaButton } from "react-aria-components";

import { emojiUrl } from "../../api/images";
import { emojiLocale } from "../../i18n/locales";
import { matchLocale } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { useSession } from "../session/session";
import { bestMatches, emojiMarkup, usableEmojis } from "../completion/completion";
import type { Reference } from "../completion/references";
import { CategoryBar } from "./CategoryBar";
import { addRecent, readRecents, readSkinTone, SKIN_TONES, writeSkinTone, type SkinTone } from "./recents";
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
export default function EmojiPicker({ channel, onSelect: onPick }: EmojiPickerProps) {
  const text = useText();
  const { locale } = useIntl();
  const { store, account } = useSession();
  const { userId } = account;
  const [skinTone, setSkinTone] = useState(() => readSkinTone(userId));
  const onSelect = (emoji: PickedEmoji) => {
    addRecent(userId, emoji);
    onPick(emoji);
  };
  const [search, setSearch] = useState("");
  const [usable] = useState(() => (channel === undefined ? [] : usableEmojis(store.state, channel)));
  const shownCustom =
    search === ""
      ? usable.slice(0, MAX_CUSTOM)
      : bestMatches(usable, search, (emoji) => [emoji.name ?? ""], MAX_CUSTOM);
  const viewport = useRef<HTMLDivElement>(null);
  /** The custom emoji under the pointer or with the focus. */
  const [custom, setCustom] = useState<PickedEmoji | null>(null);
  const [recents] = useState(() => readRecents(userId));
  const shownRecents = recents.flatMap((each): PickedEmoji[] => {
    const emoji = usable.find(({ id }) => id === each.id);
    return each.id === null ? [standard(each.name)] : emoji === undefined ? [] : [customOf(emoji)];
  });
  return (
    <Picker.Root
      className="emoji-picker"
      emojibaseUrl={`${location.origin}/app/emojibase`}
      locale={emojiLocale(matchLocale([locale]))}
      skinTone={skinTone}
      onEmojiSelect={({ emoji }) => onSelect(standard(emoji))}
    >
      <Picker.Search
        className="emoji-search"
        autoFocus
        aria-label={text("composer.emoji")}
        placeholder={text("field.picker.search")}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      {search === "" && shownRecents.length > 0 && (
        <div className="emoji-custom" role="group" aria-label={text("composer.emoji.recent")}>
          {shownRecents.map((each) => (
            <AriaButton key={each.id ?? each.name} aria-label={each.text} onPress={() => onSelect(each)}>
              {each.id === null ? each.name : <EmojiImage id={each.id} name={each.text} />}
            </AriaButton>
          ))}
        </div>
      )}
      {shownCustom.length > 0 && (
        <div className="emoji-custom" role="group" aria-label={text("composer.emoji.custom")}>
          {shownCustom.map((emoji) => (
            <CustomEmoji key={emoji.id} emoji={emoji} onSelect={onSelect} onPreview={setCustom} />
          ))}
        </div>
      )}
      {search === "" && <CategoryBar viewport={viewport} />}
      <Picker.Viewport ref={viewport} className="emoji-viewport">
        <Picker.Loading>{text("app.loading")}</Picker.Loading>
        <Picker.Empty>{text("composer.emoji.none")}</Picker.Empty>
        <Picker.List />
      </Picker.Viewport>
      <div className="emoji-footer">
        <Picker.ActiveEmoji>
          {({ emoji }) => (
            <span className="emoji-preview">
              {custom !== null ? (
                <>
                  <EmojiImage id={custom.id ?? ""} name={custom.text} /> {custom.text}
                </>
              ) : (
                emoji !== undefined && (
                  <>
                    <span className="emoji-preview-emoji">{emoji.emoji}</span> {emoji.label}
                  </>
                )
              )}
            </span>
          )}
        </Picker.ActiveEmoji>
        <AriaButton
          className="emoji-tone"
          aria-label={text("composer.emoji.tone")}
          onPress={() => {
            const next = SKIN_TONES[(SKIN_TONES.indexOf(skinTone) + 1) % SKIN_TONES.length] ?? "none";
            writeSkinTone(userId, next);
            setSkinTone(next);
          }}
        >
          {TONED_HANDS[skinTone]}
        </AriaButton>
      </div>
    </Picker.Root>
  );
}

/** The hand that shows each skin tone. */
const TONED_HANDS: Readonly<Record<SkinTone, string>> = {
  none: "✋",
  light: "✋🏻",
  "medium-light": "✋🏼",
  medium: "✋🏽",
  "medium-dark": "✋🏾",
  dark: "✋🏿",
};

function standard(emoji: string): PickedEmoji {
  return { id: null, name: emoji, text: emoji, reference: null };
}

function customOf(emoji: APIEmoji): PickedEmoji {
  const name = emoji.name ?? "";
  const text = `:${name}:`;
  return { id: emoji.id, name, text, reference: { text, markup: emojiMarkup(emoji) } };
}

function EmojiImage({ id, name }: { id: string; name: string }) {
  return <img src={emojiUrl(id, 28)} alt="" title={name} width={28} height={28} loading="lazy" />;
}

interface CustomEmojiProps {
  emoji: APIEmoji;
  onSelect: (emoji: PickedEmoji) => void;
  /** Called with the emoji while it has the pointer or the focus. */
  onPreview: (emoji: PickedEmoji | null) => void;
}

function CustomEmoji({ emoji, onSelect, onPreview }: CustomEmojiProps) {
  const picked = customOf(emoji);
  const preview = (isShown: boolean) => onPreview(isShown ? picked : null);
  return (
    <AriaButton
      aria-label={picked.text}
      onPress={() => onSelect(picked)}
      onHoverChange={preview}
      onFocusChange={preview}
    >
      <EmojiImage id={emoji.id ?? ""} name={picked.text} />
    </AriaButton>
  );
}
