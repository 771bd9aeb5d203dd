import type { APIChannel, APIMessage } from "discord-api-types/v10";
import { expect, it } from "vitest";

import { countMessage } from "./reading";
import { directMessages, messageRequests } from "./selectors";
import { notifies } from "./settings";
import { INITIAL_STATE, type State } from "./state";

const channel = (id: string, isRequest?: boolean) =>
  ({
    id,
    type: 1,
    recipients: [{ id: "2", username: "ben" }],
    last_message_id: id,
    ...(isRequest !== undefined && { is_message_request: isRequest }),
  }) as unknown as APIChannel;

const STATE = {
  ...INITIAL_STATE,
  user: { id: "1", username: "ada" },
  channels: {
    "10": channel("10"),
    "11": channel("11", true),
    "12": channel("12", false),
    "13": channel("13", true),
  },
} as unknown as State;

const message = (channelId: string) =>
  ({
    id: "99",
    channel_id: channelId,
    author: { id: "2", username: "ben" },
    mentions: [],
    mention_roles: [],
    mention_everyone: false,
  }) as unknown as APIMessage;

it("requests of strangers are apart from direct messages, the newest first", () => {
  expect(directMessages(STATE).map(({ id }) => id)).toEqual(["12", "10"]);
  expect(messageRequests(STATE).map(({ id }) => id)).toEqual(["13", "11"]);
});

it("a request counts no messages and notifies of none", () => {
  expect(countMessage(STATE, message("11"), null, 0)).toBe(STATE);
  expect(countMessage(STATE, message("12"), null, 0).readStates["12"]?.mentions).toBe(1);
  expect(notifies(STATE, message("11"), 0)).toBe(false);
  expect(notifies(STATE, message("12"), 0)).toBe(true);
});
