import { ChannelType } from "../../api/enums";
import { beforeEach, describe, expect, it, vi } from "vitest";

import type { ApiClient } from "../../api/client";
import { Store } from "../../store/store";
import type { Session } from "../session/session";
import { isChannelPath, loadFirstPage } from "./firstPage";

const request = vi.fn<ApiClient["request"]>();
let store: Store;

function open(path: string): void {
  store = new Store();
  load(path);
}

function load(path: string): void {
  loadFirstPage({ api: { request } as unknown as ApiClient, store } as Session, path);
}

function create(type: ChannelType): void {
  store.dispatch("GUILD_CREATE", {
    id: "1",
    name: "guild",
    roles: [],
    members: [],
    threads: [],
    presences: [],
    voice_states: [],
    stage_instances: [],
    guild_scheduled_events: [],
    emojis: [],
    stickers: [],
    features: [],
    channels: [{ id: "2", type, name: "channel", position: 0 }],
  });
}

describe("the first page of messages", () => {
  beforeEach(() => {
    request.mockReset().mockResolvedValue([]);
  });

  it("is requested once the session has the guild, and once", () => {
    open("/channels/1/2");
    expect(request).not.toHaveBeenCalled();
    create(ChannelType.GuildText);
    create(ChannelType.GuildText);
    expect(request).toHaveBeenCalledExactlyOnceWith("GET", "/channels/2/messages", { query: { limit: 50 } });
  });

  it("is requested at once if the session has the guild already", () => {
    store = new Store();
    create(ChannelType.GuildText);
    load("/channels/1/2");
    expect(request).toHaveBeenCalledOnce();
  });

  it("is that around the message of the path", () => {
    open("/channels/1/2/3");
    create(ChannelType.GuildText);
    expect(request.mock.calls[0]?.[2]?.query).toMatchObject({ around: "3" });
  });

  it("is not requested of channels without messages, or elsewhere", () => {
    open("/channels/1/2");
    create(ChannelType.GuildForum);
    open("/channels/1");
    create(ChannelType.GuildText);
    expect(request).not.toHaveBeenCalled();
  });

  it("belongs to the paths of channels", () => {
    expect(["/channels/1/2", "/channels/@me/2/3/"].every(isChannelPath)).toBe(true);
    expect(["/channels/1", "/channels/1/customize", "/app"].some(isChannelPath)).toBe(false);
  });
});
