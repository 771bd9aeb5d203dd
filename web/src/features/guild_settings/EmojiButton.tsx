import { EmojiPicker as Picker } from "frimousse";
import { useState, type ReactNode } from "react";
import { useIntl } from "react-intl";

import { emojiLocale } from "../../i18n/locales";
import { matchLocale } from "../../i18n/messages";
import { useText } from "../../i18n/translate";
import { IconButton } from "../../ui/controls";
import { Panel } from "../../ui/Panel";
import "../emojis/emoji.css";

interface EmojiButtonProps {
  label: string;
  icon: ReactNode;
  onSelect: (emoji: string) => void;
}

/** A button that opens a list of all Unicode emojis, whose data comes from this server. */
export function EmojiButton({ label, icon, onSelect }: EmojiButtonProps) {
  const text = useText();
  const { locale } = useIntl();
  const [open, setOpen] = useState(false);
  return (
    <Panel
      label={label}
      className="emoji-dialog"
      isOpen={open}
      onOpenChange={setOpen}
      trigger={<IconButton label={label}>{icon}</IconButton>}
    >
      <Picker.Root
        className="emoji-picker"
        emojibaseUrl={`${location.origin}/app/emojibase`}
        locale={emojiLocale(matchLocale([locale]))}
        onEmojiSelect={({ emoji }) => {
          setOpen(false);
          onSelect(emoji);
        }}
      >
        <Picker.Search
          className="emoji-search"
          autoFocus
          aria-label={label}
          placeholder={text("field.picker.search")}
        />
        <Picker.Viewport className="emoji-viewport">
          <Picker.Loading>{text("app.loading")}</Picker.Loading>
          <Picker.Empty>–</Picker.Empty>
          <Picker.List />
        </Picker.Viewport>
      </Picker.Root>
    </Panel>
  );
}
