import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { NO_VOICE, setVoiceStatus } from "../../voice/status";
import { followSpeaking } from "./speaking";

describe("followSpeaking", () => {
  let events: [string, string][] = [];
  let isHere = true;
  let stop: () => void = () => undefined;

  beforeEach(() => {
    events = [];
    isHere = true;
    setVoiceStatus(NO_VOICE);
    stop = followSpeaking(
      "7",
      () => isHere,
      (event, data) => {
        expect(data.channel_id).toBe("7");
        events.push([event, data.user_id]);
      },
    );
  });

  afterEach(() => stop());

  it("tells once of each who begins and of each who ends", () => {
    setVoiceStatus({ speaking: new Set(["1"]) });
    setVoiceStatus({ speaking: new Set(["1", "2"]) });
    setVoiceStatus({ quality: null });
    setVoiceStatus({ speaking: new Set(["2"]) });
    expect(events).toEqual([
      ["SPEAKING_START", "1"],
      ["SPEAKING_START", "2"],
      ["SPEAKING_STOP", "1"],
    ]);
  });

  it("ends all when the user leaves the channel, and tells nothing of another one", () => {
    setVoiceStatus({ speaking: new Set(["1"]) });
    isHere = false;
    setVoiceStatus({ speaking: new Set(["1", "3"]) });
    expect(events).toEqual([
      ["SPEAKING_START", "1"],
      ["SPEAKING_STOP", "1"],
    ]);
  });

  it("tells nothing once it has been stopped", () => {
    stop();
    setVoiceStatus({ speaking: new Set(["1"]) });
    expect(events).toEqual([]);
  });
});
