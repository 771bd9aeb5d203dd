import { expect, it } from "vitest";

import { channelOf, readRecording, whatOf, type Entry } from "./recording";

const entry = (fields: Partial<Entry>): Entry => ({
  number: 1,
  at: "",
  kind: "request",
  line: "",
  ...fields,
});

it.each([
  [{ data: { channel_id: "9" } }, "9"],
  [{ sent: { channel_id: "9" }, path: "/interactions" }, "9"],
  [{ path: "/channels/9/messages" }, "9"],
  [{ path: "/guilds/9" }, null],
  [{ data: "70000 bytes" }, null],
])("The channel of an entry is that of its data or path: %j", (fields, channelId) => {
  expect(channelOf(entry(fields))).toBe(channelId);
});

it("A line without its time and kind says who did what", () => {
  const line = "  12:00:00.123 request   bot POST /channels/9/messages 200 'request'";
  expect(whatOf(entry({ line }))).toBe("bot POST /channels/9/messages 200 'request'");
});

it("A token is shortened", () => {
  const line = `  12:00:00.123 request   bot POST /interactions/1/${"x".repeat(90)}/callback 200`;
  expect(whatOf(entry({ line }))).toBe("bot POST /interactions/1/xxxxxxxx…/callback 200");
});

it("Attachments are read from the files beside the page", () => {
  const recorded = { url: "http://127.0.0.1:1", entries: [], views: [], title: "", outcome: "" };
  const json = JSON.stringify({ ...recorded, title: "http://127.0.0.1:1/attachments/2/3/a.png?ex=1" });
  expect(readRecording(json, "file:///runs/test.html").title).toBe(
    "file:///runs/files/attachments/2/3/a.png?ex=1",
  );
});
