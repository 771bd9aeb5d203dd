import { describe, expect, it } from "vitest";

import type { ApiClient } from "../../api/client";
import { searchMessages } from "../../api/search";
import { INITIAL_STATE, type State } from "../../store/state";
import { NO_FILTERS, readOperators, searchQuery } from "./filters";
import { namesOf, scopeName } from "./scope";

const DIRECT = { guildId: null, channelId: "7" } as const;
const GUILD = { guildId: "10" } as const;
const STATE = {
  ...INITIAL_STATE,
  user: { id: "1", username: "ada", global_name: null },
  guilds: { "10": { id: "10", name: "The Moot" } },
  channels: {
    "7": {
      id: "7",
      type: 3,
      name: "The Circle",
      recipients: [{ id: "2", username: "ben", global_name: "Ben B" }],
    },
  },
} as unknown as State;

/** An API that answers each request with the same, and keeps the requests. */
function answering(response: object) {
  const requests: unknown[][] = [];
  const request = (...parameters: unknown[]) => {
    requests.push(parameters);
    return Promise.resolve(response);
  };
  return { api: { request } as unknown as ApiClient, requests };
}

describe("a search in a direct message", () => {
  it("asks for the messages of its channel by the names of its users, and returns them", async () => {
    const page = { total_results: 1, messages: [[{ id: "70", channel_id: "7" }]] };
    const { api, requests } = answering(page);
    const filters = readOperators(
      { ...NO_FILTERS, content: 'from:"ben b" mentions:ada in:general tea' },
      namesOf(STATE, DIRECT),
    );
    expect(await searchMessages(api, DIRECT, searchQuery(filters, 25))).toEqual(page);
    const query = {
      author_id: "2",
      mentions: "1",
      channel_id: undefined,
      content: "in:general tea",
      offset: 25,
    };
    expect(requests).toMatchObject([["GET", "/channels/7/messages/search", { query }]]);
    expect(scopeName(STATE, DIRECT)).toBe("The Circle");
  });

  it("has no results while messages are being indexed", async () => {
    const { api } = answering({ code: 110_000, retry_after: 1 });
    expect(await searchMessages(api, DIRECT, {})).toBeNull();
  });
});

it("A guild is searched as a whole", async () => {
  const { api, requests } = answering({ total_results: 0, messages: [] });
  await searchMessages(api, GUILD, { content: "tea" });
  expect(requests).toEqual([["GET", "/guilds/10/messages/search", { query: { content: "tea" } }]]);
  expect(scopeName(STATE, GUILD)).toBe("The Moot");
  expect(namesOf(STATE, GUILD).user("ben")).toBeNull();
});
