import { emojiUrl } from "../../api/images";

interface EmojiMarkProps {
  emoji: { id?: string | null | undefined; name?: string | null | undefined };
  /** In pixels, of the pictures of custom emojis. */
  size: number;
}

/** An emoji beside a text that says the same. */
export function EmojiMark({ emoji, size }: EmojiMarkProps) {
  return emoji.id ? (
    <img className="emoji-mark" src={emojiUrl(emoji.id, size)} alt="" width={size} height={size} />
  ) : (
    <span aria-hidden="true">{emoji.name}</span>
  );
}
