import { useVirtualizer } from "@tanstack/react-virtual";
import type { APIThreadChannel } from "discord-api-types/v10";
import { BookOpen, LayoutGrid, List, MessagesSquare, Plus, Search, SearchX } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { Label, Tag, TagGroup, TagList, ToggleButton, ToggleButtonGroup } from "react-aria-components";

import { ChannelType, Permission } from "../../api/enums";
import { useText } from "../../i18n/translate";
import { has } from "../../store/permissions";
import { Button } from "../../ui/controls";
import { EmptyPlace } from "../../ui/EmptyPlace";
import { SearchField, Switch } from "../../ui/fields";
import { Guard } from "../../ui/Guard";
import { Select } from "../../ui/Select";
import { WithChannelTexts } from "../../i18n/WithChannelTexts";
import { loaded } from "../../ui/loaded";
import { Content } from "../content/Content";
import { Queries } from "../session/queries";
import { useErrorText } from "../session/useAction";
import { useChannelPermissions } from "../session/usePermissions";
import { TagEmoji } from "../threads/TagPicker";
import { BarePost, PostCard } from "./PostCard";
import type { Forum, Layout, PostFilter, PostOrder } from "./posts";
import { usePosts } from "./usePosts";
import "./forums.css";

const PostForm = loaded(() => import("./PostForm"));

const GALLERY_LAYOUT = 2;
const CREATION_ORDER = 1;
/** The least width of a picture in the gallery, in pixels. */
const COLUMN_WIDTH = 260;
const ROW_HEIGHT: Record<Layout, number> = { list: 120, gallery: 320 };

/** The posts of a forum or media channel. */
export default function ForumView({ channel }: { channel: Forum }) {
  return (
    <WithChannelTexts>
      <Queries>
        <Posts forum={channel} />
      </Queries>
    </WithChannelTexts>
  );
}

function Posts({ forum }: { forum: Forum }) {
  const text = useText();
  const errorText = useErrorText();
  const [filter, setFilter] = useState<PostFilter>({ tags: [], matchAll: false, name: "" });
  const [order, setOrder] = useState<PostOrder>(
    (forum.default_sort_order as number | null) === CREATION_ORDER ? "creation" : "activity",
  );
  const [layout, setLayout] = useState<Layout>(() => defaultLayout(forum));
  const [writes, setWrites] = useState(false);
  const { posts, loadedIds, isPending, error, hasMore, loadMore } = usePosts(forum.id, filter, order);
  const mayPost = has(useChannelPermissions(forum), Permission.SendMessages);
  const isFiltered = filter.name.trim() !== "" || filter.tags.length > 0;
  return (
    <div className="forum">
      <div className="forum-tools">
        <SearchField
          label={text("forum.search")}
          icon={<Search size={16} aria-hidden="true" />}
          value={filter.name}
          onChange={(name) => setFilter({ ...filter, name })}
        />
        <Select
          label={text("forum.order")}
          value={order}
          options={[
            ["activity", text("forum.order.activity")],
            ["creation", text("forum.order.creation")],
          ]}
          onChange={setOrder}
        />
        <LayoutChoice value={layout} onChange={setLayout} />
        {mayPost && (
          <Button kind="primary" onPress={() => setWrites(true)}>
            <Plus size={16} aria-hidden="true" /> {text("forum.post.new")}
          </Button>
        )}
      </div>
      <TagFilter forum={forum} filter={filter} onChange={setFilter} />
      <Guidelines forum={forum} />
      {error !== null && <p role="alert">{errorText(error)}</p>}
      {isPending && posts.length === 0 && <Skeletons layout={layout} />}
      {!isPending && posts.length === 0 && isFiltered && (
        <EmptyPlace icon={SearchX} title={text("forum.none.filtered")}>
          {text("forum.none.filtered.hint")}
        </EmptyPlace>
      )}
      {!isPending && posts.length === 0 && !isFiltered && (
        <EmptyPlace icon={MessagesSquare} title={text("forum.none")}>
          {text(mayPost ? "forum.none.hint" : "forum.none.reader")}
        </EmptyPlace>
      )}
      <PostList
        forum={forum}
        posts={posts}
        loadedIds={loadedIds}
        layout={layout}
        onEnd={hasMore ? loadMore : null}
      />
      {writes && <PostForm forum={forum} onClose={() => setWrites(false)} />}
    </div>
  );
}

function defaultLayout(forum: Forum): Layout {
  const layout: number = "default_forum_layout" in forum ? forum.default_forum_layout : 0;
  return forum.type === ChannelType.GuildMedia || layout === GALLERY_LAYOUT ? "gallery" : "list";
}

function LayoutChoice({ value, onChange }: { value: Layout; onChange: (layout: Layout) => void }) {
  const text = useText();
  return (
    <ToggleButtonGroup
      className="forum-layouts"
      aria-label={text("forum.layout")}
      selectionMode="single"
      disallowEmptySelection
      selectedKeys={[value]}
      onSelectionChange={([key]) => onChange(key as Layout)}
    >
      <ToggleButton id="list" className="icon-button" aria-label={text("forum.layout.list")}>
        <List size={18} />
      </ToggleButton>
      <ToggleButton id="gallery" className="icon-button" aria-label={text("forum.layout.gallery")}>
        <LayoutGrid size={18} />
      </ToggleButton>
    </ToggleButtonGroup>
  );
}

interface TagFilterProps {
  forum: Forum;
  filter: PostFilter;
  onChange: (filter: PostFilter) => void;
}

function TagFilter({ forum, filter, onChange }: TagFilterProps) {
  const text = useText();
  if (forum.available_tags.length === 0) {
    return null;
  }
  return (
    <div className="forum-filter">
      <TagGroup
        selectionMode="multiple"
        selectedKeys={filter.tags}
        onSelectionChange={(keys) =>
          onChange({
            ...filter,
            tags: keys === "all" ? forum.available_tags.map((tag) => tag.id) : [...keys].map(String),
          })
        }
      >
        <Label className="visually-hidden">{text("forum.filter")}</Label>
        <TagList className="forum-tags">
          {forum.available_tags.map((tag) => (
            <Tag key={tag.id} id={tag.id} textValue={tag.name} className="forum-tag">
              <TagEmoji tag={tag} />
              {tag.name}
            </Tag>
          ))}
        </TagList>
      </TagGroup>
      {filter.tags.length > 1 && (
        <Switch
          label={text("forum.filter.all")}
          isSelected={filter.matchAll}
          onChange={(matchAll) => onChange({ ...filter, matchAll })}
        />
      )}
    </div>
  );
}

function Guidelines({ forum }: { forum: Forum }) {
  const text = useText();
  return forum.topic ? (
    <details className="forum-guidelines">
      <summary>
        <BookOpen size={16} aria-hidden="true" /> {text("forum.guidelines")}
      </summary>
      <Content content={forum.topic} guildId={forum.guild_id ?? null} />
    </details>
  ) : null;
}

interface PostListProps {
  forum: Forum;
  posts: readonly APIThreadChannel[];
  loadedIds: ReadonlySet<string>;
  layout: Layout;
  /** Called when the end of the list is near; null when everything is loaded. */
  onEnd: (() => void) | null;
}

/** Virtualized: a row is one post of the list, or as many pictures of the gallery as fit. */
function PostList({ forum, posts, loadedIds, layout, onEnd }: PostListProps) {
  const text = useText();
  const scroller = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) {
      return undefined;
    }
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const columns = layout === "list" ? 1 : Math.max(1, Math.floor(width / COLUMN_WIDTH));
  const count = Math.ceil(posts.length / columns);
  // eslint-disable-next-line react-hooks/incompatible-library -- its result changes with each scroll
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT[layout],
    getItemKey: (index) => `${layout} ${posts[index * columns]?.id ?? index}`,
    overscan: 4,
  });
  const items = virtualizer.getVirtualItems();
  const isAtEnd = (items.at(-1)?.index ?? -1) >= count - 1;
  useEffect(() => {
    if (isAtEnd) {
      onEnd?.();
    }
  }, [isAtEnd, onEnd, count]);
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolled with the keyboard
    <div ref={scroller} className="forum-scroller" tabIndex={0} role="feed" aria-label={text("forum.posts")}>
      <div className="forum-rows" style={{ height: virtualizer.getTotalSize() }}>
        {items.map((item) => (
          <div
            key={item.key}
            ref={virtualizer.measureElement}
            data-index={item.index}
            className={`forum-row forum-row-${layout}`}
            style={{
              transform: `translateY(${item.start}px)`,
              gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))`,
            }}
          >
            {posts.slice(item.index * columns, (item.index + 1) * columns).map((post) => (
              <Guard key={post.id} fallback={<BarePost forum={forum} post={post} layout={layout} />}>
                <PostCard forum={forum} post={post} isLoaded={loadedIds.has(post.id)} layout={layout} />
              </Guard>
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

function Skeletons({ layout }: { layout: Layout }) {
  return (
    <div className={`forum-skeletons forum-row-${layout}`} aria-hidden="true">
      {[1, 2, 3, 4].map((each) => (
        <span key={each} className="skeleton" style={{ height: ROW_HEIGHT[layout] - 12 }} />
      ))}
    </div>
  );
}
