import type { APIChannel, APIMessage } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import { MessageFlag, Permission } from "../../api/enums";
import { INITIAL_STATE, type State } from "../../store/state";
import { isEditable, isForwardable, isPublishable, mayFollowInto, maySend } from "./forwarding";

const ALL = Permission.SendMessages | Permission.SendMessagesInThreads;

function stateWith(permissions: bigint): State {
  return {
    ...INITIAL_STATE,
    user: { id: "1" },
    guilds: {
      "10": { id: "10", ownerId: "9", roles: { "10": { id: "10", permissions: String(permissions) } } },
    },
    members: { "10": { "1": { roles: [] } } },
    channels: { "11": { id: "11", guild_id: "10", type: 0 } },
  } as unknown as State;
}

const channel = (type: number, fields: object = {}) =>
  ({ id: "12", guild_id: "10", type, ...fields }) as unknown as APIChannel;
const message = (fields: object = {}) =>
  ({ type: 0, flags: 0, author: { id: "1" }, ...fields }) as unknown as APIMessage;

describe("a message", () => {
  it("can be edited if it is a text of its author", () => {
    expect(isEditable(message())).toBe(true);
    expect(isEditable(message({ type: 19 }))).toBe(true);
    expect(isEditable(message({ type: 7 }))).toBe(false);
    expect(isEditable(message({ poll: {} }))).toBe(false);
    expect(isEditable(message({ flags: MessageFlag.IsVoiceMessage }))).toBe(false);
    expect(isEditable(message({ flags: MessageFlag.HasSnapshot }))).toBe(false);
  });
  it("can be forwarded if a person or an app wrote it", () => {
    expect(isForwardable(message())).toBe(true);
    expect(isForwardable(message({ type: 7 }))).toBe(false);
    expect(isForwardable(message({ poll: {} }))).toBe(false);
    expect(isForwardable(message({ flags: MessageFlag.HasSnapshot }))).toBe(false);
    expect(isForwardable(message({ flags: MessageFlag.Ephemeral }))).toBe(false);
  });

  it("of the user can be published once, in announcement channels", () => {
    const state = stateWith(ALL);
    expect(isPublishable(state, channel(5), message())).toBe(true);
    expect(isPublishable(state, channel(0), message())).toBe(false);
    expect(isPublishable(state, channel(5), message({ flags: MessageFlag.Crossposted }))).toBe(false);
    expect(isPublishable(state, channel(5), message({ flags: MessageFlag.IsCrosspost }))).toBe(false);
  });

  it("of another is published by those who manage messages", () => {
    const others = message({ author: { id: "2" } });
    expect(isPublishable(stateWith(ALL), channel(5), others)).toBe(false);
    expect(isPublishable(stateWith(ALL | Permission.ManageMessages), channel(5), others)).toBe(true);
  });
});

describe("a channel", () => {
  it("takes messages where the user may send them", () => {
    expect(maySend(stateWith(ALL), channel(0))).toBe(true);
    expect(maySend(stateWith(0n), channel(0))).toBe(false);
    expect(maySend(stateWith(ALL), channel(15))).toBe(false);
    expect(maySend(stateWith(0n), { id: "5", type: 1 } as unknown as APIChannel)).toBe(true);
  });

  it("takes no messages while it is a locked thread", () => {
    const locked = channel(11, { parent_id: "11", thread_metadata: { locked: true } });
    expect(maySend(stateWith(ALL), locked)).toBe(false);
    expect(maySend(stateWith(ALL | Permission.ManageThreads), locked)).toBe(true);
  });

  it("follows another where the user manages webhooks", () => {
    const source = channel(5, { id: "13" });
    expect(mayFollowInto(stateWith(Permission.ManageWebhooks), channel(0), source)).toBe(true);
    expect(mayFollowInto(stateWith(ALL), channel(0), source)).toBe(false);
    expect(mayFollowInto(stateWith(Permission.ManageWebhooks), source, source)).toBe(false);
    expect(mayFollowInto(stateWith(Permission.ManageWebhooks), channel(2), source)).toBe(false);
  });
});
