import { beforeEach, describe, expect, it, vi } from "vitest";

import type { Command, ConnectionStart, Update } from "../../gateway/protocol";

class FakeWorker {
  static readonly started: FakeWorker[] = [];
  readonly start: ConnectionStart;
  readonly commands: Command[] = [];
  onmessage: (event: { data: Update }) => void = () => undefined;

  constructor(_url: string, { name }: { name: string }) {
    this.start = JSON.parse(name) as ConnectionStart;
    FakeWorker.started.push(this);
  }

  postMessage(command: Command): void {
    this.commands.push(command);
  }
}

const storage = { getItem: () => JSON.stringify({ status: "invisible" }), setItem: () => undefined };
vi.stubGlobal("Worker", FakeWorker);
vi.stubGlobal("location", { protocol: "https:", host: "moot.example" });
vi.stubGlobal("addEventListener", () => undefined);
vi.stubGlobal("removeEventListener", () => undefined);
vi.stubGlobal("localStorage", storage);
vi.stubGlobal("navigator", { languages: ["en"] });

const { connectEarly, takeConnection } = await import("./connecting");

const ADA = { userId: "1", token: "a" };
const ready: Update = { type: "dispatch", name: "READY", data: 1 };

describe("a connection that is opened early", () => {
  beforeEach(() => {
    FakeWorker.started.length = 0;
  });

  it("starts with the token and the chosen status, before any message reaches its worker", () => {
    connectEarly(ADA);
    takeConnection(ADA);
    expect(FakeWorker.started).toHaveLength(1);
    expect(FakeWorker.started[0]?.commands).toEqual([]);
    expect(FakeWorker.started[0]?.start).toEqual({
      url: "wss://moot.example/gateway",
      token: "a",
      presence: { status: "invisible", since: null, activities: [], afk: false },
    });
  });

  it("keeps what arrives until someone listens, in order and once", () => {
    connectEarly(ADA);
    const [worker] = FakeWorker.started;
    worker?.onmessage({ data: { type: "status", status: "connecting" } });
    worker?.onmessage({ data: ready });
    const heard: unknown[] = [];
    const callbacks = {
      onDispatch: (name: string) => heard.push(name),
      onStatus: (status: string) => heard.push(status),
    };
    takeConnection(ADA).listen(callbacks);
    expect(heard).toEqual(["connecting", "READY"]);
    worker?.onmessage({ data: { type: "status", status: "connected" } });
    expect(heard).toEqual(["connecting", "READY", "connected"]);
  });

  it("is closed where another login is used", () => {
    connectEarly(ADA);
    const other = takeConnection({ userId: "2", token: "b" });
    expect(FakeWorker.started[0]?.commands).toEqual([{ type: "disconnect" }]);
    expect(other.token).toBe("b");
  });

  it("is taken once", () => {
    connectEarly(ADA);
    expect(takeConnection(ADA)).not.toBe(takeConnection(ADA));
  });
});
