import type { APIGuildForumTag } from "discord-api-types/v10";
import { Tag, TagGroup, TagList, Label } from "react-aria-components";

import { emojiUrl } from "../../api/images";
import { useText } from "../../i18n/translate";
import "./tags.css";

/** A post has so many tags at most. */
export const MAX_TAGS = 5;

interface TagPickerProps {
  tags: readonly APIGuildForumTag[];
  value: readonly string[];
  /** Whether the user may set tags that are for moderators. */
  mayModerate: boolean;
  onChange: (tags: readonly string[]) => void;
}

/** The tags of a post: chosen with a click, or with the arrow keys and Space. */
export function TagPicker({ tags, value, mayModerate, onChange }: TagPickerProps) {
  const text = useText();
  return (
    <TagGroup
      className="field"
      selectionMode="multiple"
      selectedKeys={value}
      disabledKeys={tags
        .filter(
          (tag) => !value.includes(tag.id) && (value.length >= MAX_TAGS || (tag.moderated && !mayModerate)),
        )
        .map((tag) => tag.id)}
      onSelectionChange={(keys) => keys !== "all" && onChange([...keys].map(String))}
    >
      <Label className="field-label">{text("forum.tags")}</Label>
      <TagList className="forum-tags">
        {tags.map((tag) => (
          <Tag key={tag.id} id={tag.id} textValue={tag.name} className="forum-tag">
            <TagEmoji tag={tag} />
            {tag.name}
          </Tag>
        ))}
      </TagList>
    </TagGroup>
  );
}

export function TagEmoji({ tag }: { tag: Pick<APIGuildForumTag, "emoji_id" | "emoji_name"> }) {
  if (tag.emoji_id !== null) {
    return <img src={emojiUrl(tag.emoji_id, 16)} alt="" width={16} height={16} />;
  }
  return tag.emoji_name === null ? null : <span aria-hidden="true">{tag.emoji_name}</span>;
}
