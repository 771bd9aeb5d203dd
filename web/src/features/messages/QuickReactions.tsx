import { useState } from "react";

import { emojiUrl } from "../../api/images";
import { useText } from "../../i18n/translate";
import { MenuItem } from "../../ui/Menu";
import { quickEmojis, readRecents, type UsedEmoji } from "../emojis/recents";
import { useSession } from "../session/session";

const COUNT = 5;

/** The first items of a message's menu: reactions with the emojis that the user has used last. */
export function QuickReactions({ onReact }: { onReact: (emoji: UsedEmoji) => void }) {
  const text = useText();
  const { userId } = useSession().account;
  const [emojis] = useState(() => quickEmojis(readRecents(userId), COUNT));
  return emojis.map((emoji) => (
    <MenuItem
      key={emoji.id ?? emoji.name}
      kind="emoji"
      textValue={emoji.name}
      aria-label={text("message.react.with", { emoji: emoji.name })}
      onAction={() => onReact(emoji)}
    >
      {emoji.id === null ? (
        <span aria-hidden="true">{emoji.name}</span>
      ) : (
        <img src={emojiUrl(emoji.id, 24)} alt="" width={24} height={24} />
      )}
    </MenuItem>
  ));
}
