import type { APIMessage } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { newMessages } from "./unread";

const message = (id: string, authorId = "ben") => ({ id, author: { id: authorId } }) as unknown as APIMessage;
const list = (messages: APIMessage[], { hasOlder = false, hasNewer = false } = {}) => ({
  messages,
  hasOlder,
  hasNewer,
});

describe("new messages", () => {
  it("are those of others after the id that was read", () => {
    const messages = [message("9"), message("10", "ada"), message("11"), message("12")];
    expect(newMessages(list(messages), "9", "ada")).toEqual({
      firstId: "11",
      since: "11",
      count: 2,
      hasMore: false,
    });
  });

  it("are none while nothing is unread or loaded", () => {
    expect(newMessages(list([message("1")]), null, "ada").count).toBe(0);
    expect(newMessages(undefined, "1", "ada").firstId).toBeNull();
  });

  it("begin with the first message of a channel that was never read", () => {
    expect(newMessages(list([message("5"), message("6")]), "0", "ada").firstId).toBe("5");
  });

  it("have an unknown first one until the loaded messages reach back to what was read", () => {
    const page = list([message("7"), message("8")], { hasOlder: true });
    expect(newMessages(page, "3", "ada")).toEqual({
      firstId: null,
      since: "3",
      count: 2,
      hasMore: true,
    });
    expect(newMessages(page, "7", "ada")).toMatchObject({ firstId: "8", count: 1 });
  });
});
