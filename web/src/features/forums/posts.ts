import type {
  APIGuildForumChannel,
  APIGuildForumDefaultReactionEmoji,
  APIGuildMediaChannel,
  APIMessage,
  APIThreadChannel,
} from "discord-api-types/v10";

import { compareIds } from "../../store/records";
import { lastActivity } from "../../store/threads";

export type Forum = APIGuildForumChannel | APIGuildMediaChannel;
export type Layout = "list" | "gallery";

export type PostOrder = "activity" | "creation";

export interface PostFilter {
  tags: readonly string[];
  /** Whether a post must have all of the tags rather than any. */
  matchAll: boolean;
  name: string;
}

const PINNED = 2;

export function isPinned(post: APIThreadChannel): boolean {
  return ((post.flags ?? 0) & PINNED) !== 0;
}

/** The posts that match a filter: pinned ones first, then the newest, or those with the newest messages. */
export function listPosts(
  posts: readonly APIThreadChannel[],
  filter: PostFilter,
  order: PostOrder,
): APIThreadChannel[] {
  const key = order === "activity" ? lastActivity : (post: APIThreadChannel) => post.id;
  return posts
    .filter((post) => matches(post, filter))
    .sort((a, b) => Number(isPinned(b)) - Number(isPinned(a)) || compareIds(key(b), key(a)));
}

function matches(post: APIThreadChannel, { tags, matchAll, name }: PostFilter): boolean {
  const applied = post.applied_tags ?? [];
  const has = (tag: string) => applied.includes(tag);
  const title = post.name.toLocaleLowerCase();
  return (
    (tags.length === 0 || (matchAll ? tags.every(has) : tags.some(has))) &&
    name
      .toLocaleLowerCase()
      .split(/\s+/)
      .every((word) => title.includes(word))
  );
}

export interface PostPicture {
  url: string;
  alt: string;
  /** Its first frame is the picture. */
  isVideo: boolean;
}

/** The first picture or video of a post's first message; null for none, or a spoiler. */
export function pictureOf(message: APIMessage | undefined): PostPicture | null {
  const picture = message?.attachments.find(
    (each) => /^(?:image|video)\//.test(each.content_type ?? "") && !each.filename.startsWith("SPOILER_"),
  );
  if (picture === undefined) {
    return null;
  }
  const isVideo = picture.content_type?.startsWith("video/") === true;
  return { url: isVideo ? picture.url : picture.proxy_url, alt: picture.description ?? "", isVideo };
}

export interface ShownReaction {
  emoji: { id: string | null; name: string | null };
  count: number;
  me: boolean;
}

/** The reaction that a post's card shows: the forum's own one, else the one with the most users. */
export function shownReaction(
  message: APIMessage | undefined,
  fallback: APIGuildForumDefaultReactionEmoji | null,
): ShownReaction | null {
  const reactions = message?.reactions ?? [];
  if (fallback !== null) {
    const emoji = { id: fallback.emoji_id, name: fallback.emoji_name };
    const existing = reactions.find((each) =>
      emoji.id ? each.emoji.id === emoji.id : !each.emoji.id && each.emoji.name === emoji.name,
    );
    return { emoji, count: existing?.count ?? 0, me: existing?.me ?? false };
  }
  return [...reactions].sort((a, b) => b.count - a.count)[0] ?? null;
}
