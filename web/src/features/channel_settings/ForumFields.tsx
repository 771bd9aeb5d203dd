import { Plus, SmilePlus, Trash2 } from "lucide-react";

import type { ForumTagInput } from "../../api/channels";
import { useText } from "../../i18n/translate";
import { Button, IconButton } from "../../ui/controls";
import { TextField } from "../../ui/TextField";
import { Switch } from "../../ui/fields";
import { Select } from "../../ui/Select";
import { EmojiButton } from "../emojis/EmojiButton";
import type { PickedEmoji } from "../emojis/EmojiPicker";
import { fieldError } from "../session/useAction";
import { TagEmoji } from "../threads/TagPicker";
import { hasField, valueOf, type ChannelFieldsProps } from "./fields";

const REQUIRE_TAG = 16;
const MAX_FORUM_TAGS = 20;

/** The settings of forum and media channels: tags, the reaction that is offered, order and layout. */
export function ForumFields(props: ChannelFieldsProps & { tags: readonly ForumTagInput[] }) {
  const { channel, draft, onChange } = props;
  const text = useText();
  const flags = valueOf(channel, draft, "flags") ?? 0;
  const reaction = valueOf(channel, draft, "default_reaction_emoji");
  return (
    <>
      <TagList {...props} />
      <Switch
        label={text("forum.requireTag")}
        isSelected={(flags & REQUIRE_TAG) !== 0}
        onChange={(on) => onChange({ flags: on ? flags | REQUIRE_TAG : flags & ~REQUIRE_TAG })}
      />
      <div className="forum-tag-row">
        <span className="field-label">
          {text("forum.reaction")}: {reaction?.emoji_name ?? (reaction?.emoji_id ? "✓" : "–")}
        </span>
        <EmojiButton
          label={text("forum.reaction.choose")}
          icon={<SmilePlus size={18} />}
          channel={channel}
          onSelect={(emoji) => onChange({ default_reaction_emoji: emojiFields(emoji) })}
        />
        {reaction != null && (
          <IconButton
            label={text("forum.reaction.remove")}
            onPress={() => onChange({ default_reaction_emoji: null })}
          >
            <Trash2 size={16} />
          </IconButton>
        )}
      </div>
      <Select
        label={text("forum.order.default")}
        value={String(valueOf(channel, draft, "default_sort_order") ?? 0)}
        options={[
          ["0", text("forum.order.activity")],
          ["1", text("forum.order.creation")],
        ]}
        onChange={(order) => onChange({ default_sort_order: Number(order) })}
      />
      {hasField(channel.type, "default_forum_layout") && (
        <Select
          label={text("forum.layout.default")}
          value={valueOf(channel, draft, "default_forum_layout") === 2 ? "2" : "1"}
          options={[
            ["1", text("forum.layout.list")],
            ["2", text("forum.layout.gallery")],
          ]}
          onChange={(layout) => onChange({ default_forum_layout: Number(layout) })}
        />
      )}
    </>
  );
}

/** Standard emojis are named, those of the guild have an id. */
function emojiFields({ id, name }: PickedEmoji): { emoji_id: string | null; emoji_name: string | null } {
  return { emoji_id: id, emoji_name: id === null ? name : null };
}

function TagList({
  tags,
  channel,
  error,
  onChange,
}: ChannelFieldsProps & { tags: readonly ForumTagInput[] }) {
  const text = useText();
  const change = (index: number, fields: Partial<ForumTagInput>) =>
    onChange({ available_tags: tags.map((tag, other) => (other === index ? { ...tag, ...fields } : tag)) });
  const added: ForumTagInput = { name: "", moderated: false, emoji_id: null, emoji_name: null };
  return (
    <fieldset className="stack settings-tags">
      <legend className="field-label">{text("forum.tags")}</legend>
      {tags.map((tag, index) => (
        <div key={tag.id ?? `new ${index}`} className="forum-tag-row">
          <TextField
            label={text("forum.tag.name")}
            value={tag.name}
            onChange={(name) => change(index, { name })}
            maxLength={20}
            isRequired
            error={fieldError(error, `available_tags.${index}.name`)}
          />
          <EmojiButton
            label={text("forum.tag.emoji", { name: tag.name })}
            icon={tag.emoji_id || tag.emoji_name ? <TagEmoji tag={tag} /> : <SmilePlus size={18} />}
            channel={channel}
            onSelect={(emoji) => change(index, emojiFields(emoji))}
          />
          <Switch
            label={text("forum.tag.moderated")}
            isSelected={tag.moderated}
            onChange={(moderated) => change(index, { moderated })}
          />
          <IconButton
            label={text("forum.tag.remove", { name: tag.name })}
            onPress={() => onChange({ available_tags: tags.filter((_tag, other) => other !== index) })}
          >
            <Trash2 size={16} />
          </IconButton>
        </div>
      ))}
      {tags.length < MAX_FORUM_TAGS && (
        <Button onPress={() => onChange({ available_tags: [...tags, added] })}>
          <Plus size={16} aria-hidden="true" /> {text("forum.tag.add")}
        </Button>
      )}
    </fieldset>
  );
}
