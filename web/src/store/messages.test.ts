import type { APIMessage } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import * as messages from "./messages";
import { reduce } from "./reducers";
import { INITIAL_STATE, type PendingMessage, type State } from "./state";

const AUTHOR = { id: "1", username: "ada" };

function message(id: string, fields: Partial<APIMessage> = {}): APIMessage {
  return { id, channel_id: "9", author: AUTHOR, content: id, reactions: [], ...fields } as APIMessage;
}

function loaded(...ids: string[]): State {
  const state: State = { ...INITIAL_STATE, user: AUTHOR as State["user"] };
  return messages.setPage(
    state,
    "9",
    ids.toReversed().map((id) => message(id)),
    {
      hasOlder: false,
      hasNewer: false,
    },
  );
}

function ids(state: State): string[] {
  return state.messages["9"]?.messages.map((each) => each.id) ?? [];
}

describe("the messages of a channel", () => {
  it("stay in order, each once, in whatever order they arrive", () => {
    let state = loaded("100", "300");
    for (const id of ["1000", "200", "300"]) {
      state = messages.addMessage(state, message(id));
    }
    expect(ids(state)).toEqual(["100", "200", "300", "1000"]);
  });

  it("take no new message while newer ones than the loaded are missing", () => {
    const state = messages.setPage(loaded(), "9", [message("5")], { hasOlder: true, hasNewer: true });
    expect(ids(messages.addMessage(state, message("7")))).toEqual(["5"]);
  });

  it("keep the changes that events brought before the response to sending them", () => {
    const created = messages.addMessage(loaded(), message("5"));
    const changed = messages.updateMessage(created, { id: "5", channel_id: "9", content: "with a preview" });
    const state = messages.addMessage(changed, message("5"));
    expect(state.messages["9"]?.messages.map((each) => each.content)).toEqual(["with a preview"]);
  });

  it("replace the pending message with their nonce", () => {
    const pending = [{ nonce: "n", channelId: "9" } as PendingMessage];
    const state = messages.addMessage({ ...loaded(), pending }, message("5", { nonce: "n" }));
    expect(state.pending).toEqual([]);
    expect(ids(state)).toEqual(["5"]);
  });

  it("keep the pending message when another author uses its nonce", () => {
    const pending = [{ nonce: "n", channelId: "9" } as PendingMessage];
    const other = message("5", { nonce: "n", author: { ...AUTHOR, id: "2" } as APIMessage["author"] });
    expect(messages.addMessage({ ...loaded(), pending }, other).pending).toEqual(pending);
  });

  it("are at most as many as stay loaded", () => {
    const many = Array.from({ length: messages.MAX_LOADED }, (_, index) => String(1000 + index));
    const state = messages.prependPage(loaded(...many), "9", [message("2"), message("1")], true);
    expect(ids(state)).toHaveLength(messages.MAX_LOADED);
    expect(state.messages["9"]).toMatchObject({ hasOlder: true, hasNewer: true });
  });

  it("are removed one by one and in bulk", () => {
    let state = reduce(loaded("1", "2", "3", "4"), "MESSAGE_DELETE", { id: "2", channel_id: "9" }, 0);
    state = reduce(state, "MESSAGE_DELETE_BULK", { ids: ["1", "4"], channel_id: "9" }, 0);
    expect(ids(state)).toEqual(["3"]);
  });
});

describe("reactions", () => {
  const change = { channel_id: "9", message_id: "1", user_id: "1", emoji: { id: null, name: "👍" } };
  const reactions = (state: State) =>
    state.messages["9"]?.messages[0]?.reactions?.map((each) => [each.emoji.name, each.count, each.me]);

  it("count each user once, also when the own one was shown before its event", () => {
    let state = messages.addReaction(loaded("1"), change);
    state = messages.addReaction(state, change);
    state = messages.addReaction(state, { ...change, user_id: "2" });
    expect(reactions(state)).toEqual([["👍", 2, true]]);
  });

  it("disappear with the last user", () => {
    let state = messages.addReaction(loaded("1"), change);
    state = messages.removeReaction(state, change);
    state = messages.removeReaction(state, change);
    expect(reactions(state)).toEqual([]);
  });
});
