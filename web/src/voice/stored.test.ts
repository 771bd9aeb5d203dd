import { beforeEach, expect, it, vi } from "vitest";

import { readReturn, rememberReturn } from "./returning";
import { DEFAULT_VOICE_SETTINGS, keyName, readVoiceSettings } from "./settings";
import { readVolumes } from "./volumes";

/** What `Storage` is to what stores. */
function storage(): Storage {
  const values = new Map<string, string>();
  return {
    getItem: (key: string) => values.get(key) ?? null,
    setItem: (key: string, value: string) => void values.set(key, value),
    removeItem: (key: string) => void values.delete(key),
  } as unknown as Storage;
}

beforeEach(() => void vi.useFakeTimers());

it("A channel is offered again to its account for a minute", () => {
  const tab = storage();
  rememberReturn("1", { guildId: "7", channelId: "9" }, tab);
  expect(readReturn("1", tab)).toMatchObject({ guildId: "7", channelId: "9" });
  expect(readReturn("2", tab)).toBeNull();
  vi.advanceTimersByTime(59_000);
  expect(readReturn("1", tab)).not.toBeNull();
  vi.advanceTimersByTime(2_000);
  expect(readReturn("1", tab)).toBeNull();
  rememberReturn("1", { guildId: "7", channelId: "9" }, tab);
  rememberReturn("1", null, tab);
  expect(readReturn("1", tab)).toBeNull();
  tab.setItem("moothall.voice.return", "{");
  expect(readReturn("1", tab)).toBeNull();
});

it.each([
  null,
  7,
  "x",
  [],
  { threshold: "loud", inputVolume: NaN, mode: "shout", key: { code: 1 }, cues: 0 },
])("Damaged settings are as at first: %j", (stored) => {
  expect(readVoiceSettings(stored)).toEqual(DEFAULT_VOICE_SETTINGS);
});

it("Settings are kept, and figures within their bounds", () => {
  const key = { code: "Space", label: " " };
  const stored = { mode: "pushToTalk", threshold: 20, outputVolume: 900, key, cues: false, inputId: "mic" };
  expect(readVoiceSettings(stored)).toEqual({
    ...DEFAULT_VOICE_SETTINGS,
    mode: "pushToTalk",
    threshold: 0,
    outputVolume: 200,
    key,
    cues: false,
    inputId: "mic",
  });
});

it("A key is called by what it writes, else by its name", () => {
  expect(keyName({ code: "KeyV", label: "v" })).toBe("V");
  expect(keyName({ code: "Space", label: " " })).toBe("Space");
});

it("Only volumes that differ are kept, up to twice as loud", () => {
  expect(
    readVolumes({
      "1": { volume: 900, muted: false },
      "2": { volume: 100, muted: false },
      "3": { volume: 100, muted: true },
      x: { volume: 5, muted: true },
      "4": null,
    }),
  ).toEqual({ "1": { volume: 200, muted: false }, "3": { volume: 100, muted: true } });
  expect(readVolumes(null)).toEqual({});
});
