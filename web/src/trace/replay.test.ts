import type { APIMessage } from "discord-api-types/v10";
import { describe, expect, it } from "vitest";

import type { Entry, Frame, View } from "./recording";
import { Replay } from "./replay";

const NOW = Date.parse("2030-01-01T00:00:00Z");

const entry = (number: number, fields: Partial<Entry> = {}): Entry => ({
  number,
  at: `2026-01-01T00:00:${String(number).padStart(2, "0")}.000000+00:00`,
  kind: "request",
  line: "",
  ...fields,
});

const message = (id: string, content: string) =>
  ({
    id,
    channel_id: "9",
    content,
    author: { id: "2", username: "bob" },
    mentions: [],
  }) as unknown as APIMessage;

const BEGINNING: Frame[] = [
  {
    after: 0,
    name: "READY",
    data: {
      user: { id: "1", username: "alice" },
      session_id: "s",
      guilds: [],
      private_channels: [{ id: "9", type: 1, recipients: [] }],
    },
  },
];

function view(...frames: Frame[]): View {
  return {
    name: "alice",
    user_id: "1",
    frames: [...BEGINNING, ...frames],
    messages: { "9": [message("1", "old")] },
  };
}

const dispatch = (after: number, name: string, data: unknown): Frame => ({ after, name, data });

describe("What a person sees at a step", () => {
  it("is what had come by then, in any order of looking", () => {
    const entries = [entry(1), entry(2), entry(3)] as const;
    const replay = new Replay(
      view(
        dispatch(1, "MESSAGE_CREATE", message("2", "new")),
        dispatch(2, "MESSAGE_UPDATE", message("2", "edited")),
        dispatch(3, "MESSAGE_DELETE", { id: "2", channel_id: "9" }),
      ),
      entries,
    );
    const texts = (at: Entry) =>
      replay.stateAt(at, NOW).messages["9"]?.messages.map(({ content }) => content);
    expect(texts(entries[2])).toEqual(["old"]);
    expect(texts(entries[0])).toEqual(["old", "new"]);
    expect(texts(entries[1])).toEqual(["old", "edited"]);
  });

  it("has the messages of channels that were created meanwhile", () => {
    const created = { ...message("2", "here"), channel_id: "8" };
    const replay = new Replay(
      view(
        dispatch(1, "CHANNEL_CREATE", { id: "8", type: 1, recipients: [] }),
        dispatch(2, "MESSAGE_CREATE", created),
      ),
      [entry(1), entry(2)],
    );
    expect(replay.stateAt(entry(1), NOW).messages["8"]?.messages).toEqual([]);
    expect(replay.stateAt(entry(2), NOW).messages["8"]?.messages).toEqual([created]);
  });

  it("has a modal from when it is shown until the person submits it", () => {
    const submitted = entry(3, { actor: "alice", path: "/interactions", sent: { type: 5 } });
    const others = entry(2, { actor: "bob", path: "/interactions", sent: { type: 5 } });
    const modal = { id: "5", title: "Form", components: [], application: {}, channel_id: "9", nonce: null };
    const replay = new Replay(view(dispatch(1, "INTERACTION_MODAL_CREATE", modal)), [
      entry(1),
      others,
      submitted,
    ]);
    expect(replay.stateAt(entry(1), NOW).modal?.title).toBe("Form");
    expect(replay.stateAt(others, NOW).modal?.title).toBe("Form");
    expect(replay.stateAt(submitted, NOW).modal).toBeNull();
  });

  it("says who types for as long as one looks, and not once that has ended", () => {
    const typing = { channel_id: "9", user_id: "2", timestamp: 0 };
    const late = entry(30);
    const replay = new Replay(view(dispatch(1, "TYPING_START", typing)), [entry(1), late]);
    expect(replay.stateAt(entry(1), NOW).typing["9"]?.["2"]).toBeGreaterThan(NOW + 60_000);
    expect(replay.stateAt(late, NOW).typing["9"]).toEqual({});
  });
});
