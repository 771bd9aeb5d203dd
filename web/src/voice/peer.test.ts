import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { VoicePeer, type VoicePeerCallbacks } from "./peer";

const SERVER =
  "m=audio 3333 ICE/SDP\nc=IN IP4 127.0.0.1\na=ice-ufrag:s\na=ice-pwd:p\na=fingerprint:sha-256 9B";

interface FakeTransceiver {
  mid: string | null;
  direction: string;
  sender: { replaceTrack: (track: unknown) => Promise<void> };
  receiver: { track: string };
}

/** Keeps the rules of offers and answers: one after the other, and an answer has the sections of its offer. */
class FakePeerConnection {
  static last: FakePeerConnection;
  readonly transceivers: FakeTransceiver[] = [];
  readonly answers: string[] = [];
  private offered: string | null = null;
  restarts = 0;
  onconnectionstatechange: (() => void) | null = null;
  connectionState = "new";

  constructor() {
    FakePeerConnection.last = this;
  }

  addTransceiver(_kind: string, { direction }: { direction: string }): FakeTransceiver {
    const transceiver = {
      mid: null,
      direction,
      sender: { replaceTrack: vi.fn(() => Promise.resolve()) },
      receiver: { track: `track ${this.transceivers.length}` },
    };
    this.transceivers.push(transceiver);
    return transceiver;
  }

  createOffer(): Promise<{ sdp: string }> {
    const sections = this.transceivers.map(
      (_, index) =>
        `m=audio 9 X 111\r\na=mid:${index}\r\na=ice-ufrag:u${this.restarts}\r\na=ice-pwd:p\r\na=fingerprint:x y\r\na=rtpmap:111 opus/48000/2`,
    );
    return Promise.resolve({ sdp: sections.join("\r\n") });
  }

  setLocalDescription({ sdp }: { sdp: string }): Promise<void> {
    expect(this.offered).toBeNull();
    this.offered = sdp;
    for (const [index, transceiver] of this.transceivers.entries()) {
      transceiver.mid = String(index);
    }
    return Promise.resolve();
  }

  setRemoteDescription({ sdp }: { sdp: string }): Promise<void> {
    expect(this.offered?.match(/^m=/gm)).toHaveLength(sdp.match(/^m=/gm)?.length ?? 0);
    this.offered = null;
    this.answers.push(sdp);
    return Promise.resolve();
  }

  restartIce(): void {
    this.restarts += 1;
  }

  close(): void {
    this.connectionState = "closed";
  }
}

const callbacks = {
  onOffer: vi.fn(),
  onTrack: vi.fn(),
  onState: vi.fn(),
  onError: vi.fn(),
} satisfies VoicePeerCallbacks;

async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) {
    await Promise.resolve();
  }
}

beforeEach(() => {
  vi.clearAllMocks();
  vi.stubGlobal("RTCPeerConnection", FakePeerConnection);
});
afterEach(() => {
  expect(callbacks.onError).not.toHaveBeenCalled();
  vi.unstubAllGlobals();
});

async function connected(): Promise<VoicePeer> {
  const peer = new VoicePeer(callbacks);
  await settle();
  peer.accept(SERVER);
  await settle();
  return peer;
}

it("The microphone is offered first, and users who come meanwhile once the server has answered", async () => {
  const peer = new VoicePeer(callbacks);
  await settle();
  expect(callbacks.onOffer).toHaveBeenCalledOnce();
  peer.setSource("2", 50);
  peer.setSource("3", 60);
  await settle();
  expect(FakePeerConnection.last.answers).toEqual([]);
  peer.accept(SERVER);
  await settle();
  expect(FakePeerConnection.last.answers).toHaveLength(2);
  expect(FakePeerConnection.last.answers[1]).toMatch(/recvonly[^]*a=ssrc:50 [^]*a=ssrc:60 /);
  expect(callbacks.onTrack.mock.calls).toEqual([
    ["2", "track 1"],
    ["3", "track 2"],
  ]);
  expect(callbacks.onOffer).toHaveBeenCalledOnce();
});

it("Who comes gets the place of somebody who has left", async () => {
  const peer = await connected();
  peer.setSource("2", 50);
  await settle();
  peer.removeSource("2");
  await settle();
  expect(callbacks.onTrack).toHaveBeenLastCalledWith("2", null);
  expect(FakePeerConnection.last.answers.at(-1)).toContain("a=inactive");
  peer.setSource("3", 60);
  await settle();
  expect(callbacks.onTrack).toHaveBeenLastCalledWith("3", "track 1");
  expect(FakePeerConnection.last.transceivers).toHaveLength(2);
});

it("A user whose SSRC has changed is heard under the new one", async () => {
  const peer = await connected();
  peer.setSource("2", 50);
  await settle();
  peer.setSource("2", 51);
  await settle();
  expect(FakePeerConnection.last.answers.at(-1)).toContain("a=ssrc:51 ");
  expect(callbacks.onTrack.mock.calls.map(([, track]) => track as unknown)).toEqual([
    "track 1",
    null,
    "track 1",
  ]);
});

it("A new way is offered to the server, and users who come meanwhile wait for its answer", async () => {
  const peer = await connected();
  peer.restart();
  peer.setSource("2", 50);
  await settle();
  expect(callbacks.onOffer).toHaveBeenCalledTimes(2);
  expect(JSON.stringify(callbacks.onOffer.mock.lastCall)).toContain("a=ice-ufrag:u1");
  expect(callbacks.onTrack).not.toHaveBeenCalled();
  // The connection to the voice gateway was lost with the offer.
  peer.sendAgain();
  expect(callbacks.onOffer).toHaveBeenCalledTimes(3);
  peer.accept(SERVER);
  await settle();
  peer.sendAgain();
  expect(callbacks.onOffer).toHaveBeenCalledTimes(3);
  expect(callbacks.onTrack).toHaveBeenCalledWith("2", "track 1");
});

it("Everyone is silent once the peer is closed, and nothing is offered any more", async () => {
  const peer = await connected();
  peer.setSource("2", 50);
  await settle();
  peer.close();
  peer.setSource("3", 60);
  await settle();
  expect(callbacks.onTrack).toHaveBeenLastCalledWith("2", null);
  expect(FakePeerConnection.last.answers).toHaveLength(2);
});
