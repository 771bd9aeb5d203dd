import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Session } from "../session/session";
import { Store } from "../../store/store";
import { requestSounds } from "./guildSounds";

describe("requestSounds", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const send = vi.fn();
  const sessionOf = (store: Store) =>
    ({ store, gateway: { send } }) as unknown as Pick<Session, "gateway" | "store">;

  it("resolves once every guild has answered", async () => {
    const store = new Store();
    const request = requestSounds(sessionOf(store), ["1", "2"]);
    expect(send).toHaveBeenLastCalledWith({ type: "sounds", data: { guild_ids: ["1", "2"] } });
    store.dispatch("SOUNDBOARD_SOUNDS", { guild_id: "2", soundboard_sounds: [] });
    store.dispatch("SOUNDBOARD_SOUNDS", { guild_id: "1", soundboard_sounds: [{ sound_id: "7" }] });
    expect(await request).toEqual({ "1": [{ sound_id: "7" }], "2": [] });
  });

  it("leaves out guilds that do not answer", async () => {
    const store = new Store();
    const request = requestSounds(sessionOf(store), ["1", "2"]);
    store.dispatch("SOUNDBOARD_SOUNDS", { guild_id: "1", soundboard_sounds: [] });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await request).toEqual({ "1": [] });
  });

  it("asks nothing without a guild", async () => {
    send.mockClear();
    expect(await requestSounds(sessionOf(new Store()), [])).toEqual({});
    expect(send).not.toHaveBeenCalled();
  });
});
