import type { APIThreadChannel } from "discord-api-types/v10";
import { Archive, Lock, MessageSquare, Pin, Play } from "lucide-react";
import { memo, useState } from "react";
import { Button as AriaButton, ToggleButton } from "react-aria-components";
import { useIntl } from "react-intl";

import { avatarUrl, emojiUrl } from "../../api/images";
import { Translate, useText } from "../../i18n/translate";
import { plainText } from "../../markdown/plain";
import { isUnread } from "../../store/reading";
import { displayName } from "../../store/selectors";
import { isArchived, isLocked, lastActivity } from "../../store/threads";
import { Avatar } from "../../ui/controls";
import { relativeTime, timeOfId } from "../../ui/times";
import { Mentions } from "../channels/Mentions";
import { toggleReaction } from "../messages/Reactions";
import { useAppState, useSession } from "../session/session";
import { useOpenThread } from "../threads/useOpenThread";
import { TagEmoji } from "../threads/TagPicker";
import type { Forum, Layout } from "./posts";
import { isPinned, pictureOf, shownReaction, type PostPicture } from "./posts";

interface PostCardProps {
  forum: Forum;
  post: APIThreadChannel;
  /** Whether the first message would be known if there were one. */
  isLoaded: boolean;
  layout: Layout;
}

export const PostCard = memo(function PostCard({ forum, post, isLoaded, layout }: PostCardProps) {
  const text = useText();
  const intl = useIntl();
  const open = useOpenThread();
  const guildId = forum.guild_id ?? "";
  const first = useAppState((state) => state.firstMessages[post.id]);
  const unread = useAppState((state) => isUnread(state, post));
  const author = useAppState((state) => first?.author ?? state.users[post.owner_id ?? ""]);
  const name = useAppState((state) => (author === undefined ? "" : displayName(state, author, guildId)));
  const [now] = useState(() => Date.now());
  const picture = pictureOf(first);
  const tags = forum.available_tags.filter((tag) => post.applied_tags?.includes(tag.id));
  return (
    <article
      className={`post post-${layout}${unread ? " post-unread" : ""}`}
      aria-labelledby={`post-${post.id}`}
    >
      {picture !== null && <Picture {...picture} />}
      <div className="post-body">
        {tags.length > 0 && (
          <ul className="forum-tags" aria-label={text("forum.tags")}>
            {tags.map((tag) => (
              <li key={tag.id} className="forum-tag">
                <TagEmoji tag={tag} /> {tag.name}
              </li>
            ))}
          </ul>
        )}
        <AriaButton
          id={`post-${post.id}`}
          className="post-title"
          onPress={() => open({ guildId, parentId: forum.id, threadId: post.id })}
        >
          {isPinned(post) && <Pin size={15} aria-label={text("forum.post.pinned")} />}
          {isLocked(post) && <Lock size={15} aria-label={text("thread.locked")} />}
          {!isLocked(post) && isArchived(post) && <Archive size={15} aria-label={text("thread.archived")} />}
          <bdi>{post.name}</bdi>
        </AriaButton>
        <p className="post-excerpt" dir="auto">
          {first !== undefined ? (
            plainText(first.content, 240)
          ) : isLoaded ? (
            <em>{text("forum.post.deleted")}</em>
          ) : (
            <span className="skeleton post-excerpt-skeleton" />
          )}
        </p>
        <p className="post-footer">
          <Avatar
            url={author === undefined ? null : avatarUrl(author, 20)}
            name={name}
            size={20}
            hueKey={author?.id}
          />
          <span dir="auto">{name}</span>
          <DefaultReaction forum={forum} post={post} />
          <span className="post-count">
            <MessageSquare size={14} aria-hidden="true" />
            {text("thread.messages", { count: post.message_count ?? 0 })}
          </span>
          <time dateTime={new Date(timeOfId(lastActivity(post))).toISOString()}>
            {relativeTime(intl, timeOfId(lastActivity(post)), now)}
          </time>
          <Mentions channelIds={[post.id]} />
        </p>
      </div>
    </article>
  );
});

/** A post whose card cannot be drawn: it can be opened, to delete what is wrong in it. */
export function BarePost({ forum, post, layout }: Omit<PostCardProps, "isLoaded">) {
  const open = useOpenThread();
  const guildId = forum.guild_id ?? "";
  return (
    <article className={`post post-${layout}`} aria-labelledby={`post-${post.id}`}>
      <div className="post-body">
        <AriaButton
          id={`post-${post.id}`}
          className="post-title"
          onPress={() => open({ guildId, parentId: forum.id, threadId: post.id })}
        >
          <bdi>{post.name}</bdi>
        </AriaButton>
        <p className="post-excerpt">
          <Translate id="message.undrawable" />
        </p>
      </div>
    </article>
  );
}

/** A picture, or the first frame of a video, of which no more is loaded. */
function Picture({ url, alt, isVideo }: PostPicture) {
  return isVideo ? (
    <span className="post-video">
      {/* Some browsers draw no frame until a time is asked for. */}
      <video
        className="post-picture"
        src={`${url}#t=0.1`}
        preload="metadata"
        muted
        playsInline
        aria-label={alt || undefined}
        aria-hidden={alt === "" || undefined}
      />
      <Play className="post-video-sign" size={20} aria-hidden="true" />
    </span>
  ) : (
    <img className="post-picture" src={url} alt={alt} loading="lazy" />
  );
}

/** The reaction that a forum offers under each post. */
function DefaultReaction({ forum, post }: { forum: Forum; post: APIThreadChannel }) {
  const text = useText();
  const session = useSession();
  const first = useAppState((state) => state.firstMessages[post.id]);
  const reaction = shownReaction(first, forum.default_reaction_emoji);
  const emojis = useAppState((state) => state.guilds[forum.guild_id ?? ""]?.emojis);
  if (reaction === null || first === undefined) {
    return null;
  }
  const { emoji, count, me } = reaction;
  const name = emoji.name ?? emojis?.find((each) => each.id === emoji.id)?.name ?? "";
  return (
    <ToggleButton
      className="reaction"
      isSelected={me}
      isDisabled={isArchived(post)}
      aria-label={text("message.reaction", { emoji: name, count })}
      onChange={(reacts) => void toggleReaction(session, first, { id: emoji.id, name }, reacts)}
    >
      {emoji.id === null ? (
        <span aria-hidden="true">{emoji.name}</span>
      ) : (
        <img src={emojiUrl(emoji.id, 18)} alt="" width={18} height={18} />
      )}
      <span aria-hidden="true">{count}</span>
    </ToggleButton>
  );
}
