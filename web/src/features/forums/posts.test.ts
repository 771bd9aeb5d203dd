import type { APIMessage, APIThreadChannel } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { listPosts, pictureOf, shownReaction, type PostFilter } from "./posts";

const NONE: PostFilter = { tags: [], matchAll: false, name: "" };

function post(id: string, fields: object = {}): APIThreadChannel {
  return { id, name: `post ${id}`, applied_tags: [], flags: 0, ...fields } as unknown as APIThreadChannel;
}

const ids = (...args: Parameters<typeof listPosts>) => listPosts(...args).map((each) => each.id);

describe("the posts of a forum", () => {
  it("are sorted by their newest message or by their age, pinned ones first", () => {
    const posts = [post("10", { last_message_id: "99" }), post("20"), post("30", { last_message_id: "40" })];
    expect(ids(posts, NONE, "activity")).toEqual(["10", "30", "20"]);
    expect(ids(posts, NONE, "creation")).toEqual(["30", "20", "10"]);
    expect(ids([...posts, post("5", { flags: 2 })], NONE, "creation")[0]).toBe("5");
  });

  it("are filtered by any or all of some tags", () => {
    const posts = [post("1", { applied_tags: ["a"] }), post("2", { applied_tags: ["a", "b"] }), post("3")];
    expect(ids(posts, { ...NONE, tags: ["a", "b"] }, "creation")).toEqual(["2", "1"]);
    expect(ids(posts, { ...NONE, tags: ["a", "b"], matchAll: true }, "creation")).toEqual(["2"]);
  });

  it("are filtered by the words of their names, in any order", () => {
    const posts = [post("1", { name: "Green Tea" }), post("2", { name: "Black tea" })];
    expect(ids(posts, { ...NONE, name: "tea green" }, "creation")).toEqual(["1"]);
  });
});

describe("the card of a post", () => {
  const message = (fields: object) => ({ attachments: [], ...fields }) as unknown as APIMessage;

  it("shows its first picture, but no spoiler", () => {
    const attachments = [
      { content_type: "text/plain", filename: "a.txt", proxy_url: "/a" },
      { content_type: "image/png", filename: "SPOILER_b.png", proxy_url: "/b" },
      { content_type: "image/png", filename: "c.png", proxy_url: "/c", description: "a cup" },
    ];
    expect(pictureOf(message({ attachments }))).toEqual({ url: "/c", alt: "a cup", isVideo: false });
    const video = { content_type: "video/webm", filename: "d.webm", url: "/d", proxy_url: "/e" };
    expect(pictureOf(message({ attachments: [video, ...attachments] }))).toEqual({
      url: "/d",
      alt: "",
      isVideo: true,
    });
    expect(pictureOf(message({}))).toBeNull();
    expect(pictureOf(undefined)).toBeNull();
  });

  it("offers the forum's reaction, else shows the one with the most users", () => {
    const reactions = [
      { emoji: { id: null, name: "👍" }, count: 2, me: false },
      { emoji: { id: null, name: "🎉" }, count: 5, me: true },
    ];
    expect(shownReaction(message({ reactions }), null)?.emoji.name).toBe("🎉");
    expect(shownReaction(message({ reactions }), { emoji_id: null, emoji_name: "👍" })?.count).toBe(2);
    expect(shownReaction(message({}), { emoji_id: "7", emoji_name: null })).toEqual({
      emoji: { id: "7", name: null },
      count: 0,
      me: false,
    });
    expect(shownReaction(message({}), null)).toBeNull();
  });
});
