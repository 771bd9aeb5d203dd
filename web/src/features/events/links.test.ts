import { describe, expect, it } from "vitest";

import { eventLinks } from "./links";

const HERE = "https://moot.example";

describe("links to events", () => {
  it("are found in a text, each once", () => {
    const text = `see ${HERE}/events/10/20, and <${HERE}/events/10/21> or ${HERE}/events/10/20`;
    expect(eventLinks(text, HERE).map((link) => link.eventId)).toEqual(["20", "21"]);
  });

  it("of other servers are none", () => {
    expect(eventLinks("https://other.example/events/10/20", HERE)).toEqual([]);
    expect(eventLinks(`${HERE}.evil.example/events/10/20`, HERE)).toEqual([]);
    expect(eventLinks("nothing here", HERE)).toEqual([]);
  });
});
