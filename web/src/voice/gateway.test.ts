import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { VoiceGateway, type VoiceGatewayCallbacks } from "./gateway";
import { Opcode } from "./protocol";

const IDENTITY = { guildId: "7", channelId: "9", userId: "1", sessionId: "s", token: "t" };

class FakeSocket {
  static readonly OPEN = 1;
  static readonly all: FakeSocket[] = [];
  static get last(): FakeSocket {
    return FakeSocket.all.at(-1) as FakeSocket;
  }

  readyState = FakeSocket.OPEN;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  readonly sent: { op: Opcode; d: Record<string, unknown> }[] = [];

  constructor(readonly url: string) {
    FakeSocket.all.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as (typeof this.sent)[0]);
  }

  close(): void {
    this.readyState = 3;
  }

  receive(op: Opcode, d: unknown, seq?: number): void {
    this.onmessage?.({ data: JSON.stringify({ op, d, seq }) });
  }

  /** The server closes the connection. */
  drop(code: number): void {
    this.readyState = 3;
    this.onclose?.({ code });
  }
}

const callbacks = {
  onReady: vi.fn(),
  onDescription: vi.fn(),
  onSource: vi.fn(),
  onWants: vi.fn(),
  onSpeaking: vi.fn(),
  onDisconnect: vi.fn(),
  onResumed: vi.fn(),
  onLost: vi.fn(),
  onEnd: vi.fn(),
} satisfies VoiceGatewayCallbacks;

/** A gateway with a session. */
function begun(): VoiceGateway {
  const gateway = new VoiceGateway("ws://here/gateway?v=8", IDENTITY, callbacks);
  gateway.connect();
  FakeSocket.last.receive(Opcode.Hello, { heartbeat_interval: 13_750 });
  FakeSocket.last.receive(Opcode.Ready, { ssrc: 5 }, 1);
  FakeSocket.last.receive(Opcode.SessionDescription, { sdp: "x" }, 2);
  return gateway;
}

/** Let the gateway connect again, and greet it. */
async function greeted(): Promise<FakeSocket> {
  const before = FakeSocket.all.length;
  await vi.advanceTimersByTimeAsync(40_000);
  expect(FakeSocket.all.length).toBeGreaterThan(before);
  FakeSocket.last.receive(Opcode.Hello, { heartbeat_interval: 13_750 });
  return FakeSocket.last;
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.clearAllMocks();
  FakeSocket.all.length = 0;
  vi.stubGlobal("WebSocket", FakeSocket);
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("a session of the voice gateway", () => {
  it("identifies, selects WebRTC and tells who speaks", () => {
    const gateway = begun();
    expect(FakeSocket.last.url).toBe("ws://here/gateway?v=8");
    gateway.selectProtocol({ sdp: "a=ice-ufrag:x", payloadType: 111, video: [] });
    gateway.speak(1, 5);
    const [identify, select, speaking] = FakeSocket.last.sent;
    expect(identify).toMatchObject({
      op: Opcode.Identify,
      d: { server_id: "7", user_id: "1", session_id: "s", token: "t" },
    });
    expect(select).toMatchObject({
      op: Opcode.SelectProtocol,
      d: {
        protocol: "webrtc",
        data: "a=ice-ufrag:x",
        codecs: [{ name: "opus", type: "audio", priority: 1000, payload_type: 111 }],
      },
    });
    expect(speaking).toEqual({ op: Opcode.Speaking, d: { speaking: 1, delay: 0, ssrc: 5 } });
    expect(callbacks.onReady).toHaveBeenCalledWith({ ssrc: 5 });
    gateway.close();
  });

  it("acknowledges in heartbeats what it has received", async () => {
    const gateway = begun();
    await vi.advanceTimersByTimeAsync(5_000);
    const beat = FakeSocket.last.sent.find(({ op }) => op === Opcode.Heartbeat);
    expect(beat?.d["seq_ack"]).toBe(2);
    gateway.close();
  });

  it("opens another connection when a heartbeat is not answered, and resumes", async () => {
    const gateway = begun();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(FakeSocket.all).toHaveLength(2);
    FakeSocket.last.receive(Opcode.Hello, { heartbeat_interval: 13_750 });
    expect(FakeSocket.last.sent[0]).toEqual({
      op: Opcode.Resume,
      d: { server_id: "7", session_id: "s", token: "t", seq_ack: 2 },
    });
    FakeSocket.last.receive(Opcode.Resumed, null);
    expect(callbacks.onResumed).toHaveBeenCalledOnce();
    gateway.close();
  });

  it("resumes after a lost network and a crash, and begins anew where its session is gone", async () => {
    const gateway = begun();
    for (const [code, op] of [
      [1006, Opcode.Resume],
      [4015, Opcode.Resume],
      [4006, Opcode.Identify],
      [4009, Opcode.Identify],
    ] as const) {
      FakeSocket.last.drop(code);
      const before = FakeSocket.all.length;
      await vi.advanceTimersByTimeAsync(4_000);
      expect(FakeSocket.all.length, String(code)).toBe(before + 1);
      FakeSocket.last.receive(Opcode.Hello, { heartbeat_interval: 13_750 });
      expect(FakeSocket.last.sent[0]?.op, String(code)).toBe(op);
      FakeSocket.last.receive(op === Opcode.Resume ? Opcode.Resumed : Opcode.Ready, { ssrc: 6 }, 1);
      FakeSocket.last.receive(Opcode.SessionDescription, { sdp: "x" }, 2);
    }
    expect(callbacks.onEnd).not.toHaveBeenCalled();
    gateway.close();
  });

  it("says nothing to a connection before the session is there again", async () => {
    const gateway = begun();
    gateway.reconnect();
    await vi.advanceTimersByTimeAsync(0);
    gateway.selectProtocol({ sdp: "a=ice-ufrag:x", payloadType: 111, video: [] });
    FakeSocket.last.receive(Opcode.Hello, { heartbeat_interval: 13_750 });
    gateway.speak(1, 5);
    expect(FakeSocket.last.sent.map(({ op }) => op)).toEqual([Opcode.Resume]);
    FakeSocket.last.receive(Opcode.Resumed, null);
    gateway.speak(1, 5);
    expect(FakeSocket.last.sent.at(-1)?.op).toBe(Opcode.Speaking);
    gateway.close();
  });

  it("begins anew after a minute without a connection", async () => {
    const gateway = begun();
    FakeSocket.last.drop(1006);
    await vi.advanceTimersByTimeAsync(0);
    vi.setSystemTime(Date.now() + 61_000);
    FakeSocket.last.drop(1006);
    const socket = await greeted();
    expect(socket.sent[0]?.op).toBe(Opcode.Identify);
    gateway.close();
  });

  it.each([
    [4014, "disconnected"],
    [4022, "disconnected"],
    [4004, "renew"],
    [4011, "renew"],
    [4017, "refused"],
    [4012, "refused"],
    [4021, "refused"],
  ])("ends by %s: %s", async (code, reason) => {
    begun();
    FakeSocket.last.drop(code);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(callbacks.onEnd).toHaveBeenCalledExactlyOnceWith(reason, code);
    expect(FakeSocket.all).toHaveLength(1);
  });

  it("gives up a server that does not answer", async () => {
    new VoiceGateway("ws://here/", IDENTITY, callbacks).connect();
    for (let tries = 0; tries < 10 && callbacks.onEnd.mock.calls.length === 0; tries += 1) {
      FakeSocket.last.drop(1006);
      await vi.advanceTimersByTimeAsync(40_000);
    }
    expect(callbacks.onEnd).toHaveBeenCalledExactlyOnceWith("unreachable", 1006);
  });

  it("does nothing more once it is closed", async () => {
    const gateway = begun();
    const socket = FakeSocket.last;
    gateway.close();
    socket.receive(Opcode.Speaking, { user_id: "2", ssrc: 8, speaking: 1 });
    socket.drop(1006);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(FakeSocket.all).toHaveLength(1);
    expect(callbacks.onSpeaking).not.toHaveBeenCalled();
  });
});
