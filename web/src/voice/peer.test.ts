import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { VoicePeer, type VoicePeerCallbacks } from "./peer";

const SERVER =
  "m=audio 3333 ICE/SDP\nc=IN IP4 127.0.0.1\na=ice-ufrag:s\na=ice-pwd:p\na=fingerprint:sha-256 9B";

const voice = (userId: string, ssrc: number) => ({ userId, kind: "voice", ssrc, rtxSsrc: null }) as const;

interface FakeEncoding {
  rid: string;
  active: boolean;
  maxFramerate?: number;
  maxBitrate?: number;
}

interface FakeTransceiver {
  kind: string;
  mid: string | null;
  direction: string;
  encodings: FakeEncoding[];
  sender: {
    replaceTrack: (track: unknown) => Promise<void>;
    getParameters: () => { encodings: FakeEncoding[] };
    setParameters: (parameters: { encodings: FakeEncoding[] }) => Promise<void>;
  };
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

  addTransceiver(
    kind: string,
    {
      direction,
      sendEncodings = [{ rid: "", active: true }],
    }: { direction: string; sendEncodings?: FakeEncoding[] },
  ): FakeTransceiver {
    const transceiver: FakeTransceiver = {
      kind,
      mid: null,
      direction,
      encodings: sendEncodings,
      sender: {
        replaceTrack: vi.fn(() => Promise.resolve()),
        getParameters: () => structuredClone({ encodings: transceiver.encodings }),
        setParameters: ({ encodings }) => {
          transceiver.encodings = encodings;
          return Promise.resolve();
        },
      },
      receiver: { track: `track ${this.transceivers.length}` },
    };
    this.transceivers.push(transceiver);
    return transceiver;
  }

  createOffer(): Promise<{ sdp: string }> {
    const codecs = "a=rtpmap:96 VP8/90000\r\na=rtpmap:97 rtx/90000\r\na=fmtp:97 apt=96";
    const sections = this.transceivers.map(
      ({ kind }, index) =>
        `m=${kind} 9 X 111\r\na=mid:${index}\r\na=ice-ufrag:u${this.restarts}\r\na=ice-pwd:p\r\na=fingerprint:x y\r\na=rtpmap:111 opus/48000/2\r\na=ssrc:${900 + index} cname:x\r\n${kind === "video" ? codecs : ""}`,
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
  peer.setSource(voice("2", 50));
  peer.setSource(voice("3", 60));
  await settle();
  expect(FakePeerConnection.last.answers).toEqual([]);
  peer.accept(SERVER);
  await settle();
  expect(FakePeerConnection.last.answers).toHaveLength(2);
  expect(FakePeerConnection.last.answers[1]).toMatch(/recvonly[^]*a=ssrc:50 [^]*a=ssrc:60 /);
  expect(callbacks.onTrack.mock.calls).toEqual([
    ["2", "voice", "track 4"],
    ["3", "voice", "track 5"],
  ]);
  expect(callbacks.onOffer).toHaveBeenCalledOnce();
});

it("Who comes gets the place of somebody who has left", async () => {
  const peer = await connected();
  peer.setSource(voice("2", 50));
  await settle();
  peer.setSources("2", []);
  await settle();
  expect(callbacks.onTrack).toHaveBeenLastCalledWith("2", "voice", null);
  expect(FakePeerConnection.last.answers.at(-1)).toContain("a=inactive");
  peer.setSource(voice("3", 60));
  await settle();
  expect(callbacks.onTrack).toHaveBeenLastCalledWith("3", "voice", "track 4");
  expect(FakePeerConnection.last.transceivers).toHaveLength(5);
});

it("A user whose SSRC has changed is heard under the new one", async () => {
  const peer = await connected();
  peer.setSource(voice("2", 50));
  await settle();
  peer.setSource(voice("2", 51));
  await settle();
  expect(FakePeerConnection.last.answers.at(-1)).toContain("a=ssrc:51 ");
  expect(callbacks.onTrack.mock.calls.map(([, , track]) => track as unknown)).toEqual([
    "track 4",
    null,
    "track 4",
  ]);
});

it("A new way is offered to the server, and users who come meanwhile wait for its answer", async () => {
  const peer = await connected();
  peer.restart();
  peer.setSource(voice("2", 50));
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
  expect(callbacks.onTrack).toHaveBeenCalledWith("2", "voice", "track 4");
});

it("Everyone is silent once the peer is closed, and nothing is offered any more", async () => {
  const peer = await connected();
  peer.setSource(voice("2", 50));
  await settle();
  peer.close();
  peer.setSource(voice("3", 60));
  await settle();
  expect(callbacks.onTrack).toHaveBeenLastCalledWith("2", "voice", null);
  expect(FakePeerConnection.last.answers).toHaveLength(2);
});

it("Cameras and screens have sections of their own kind, with the SSRC of what is sent again", async () => {
  const peer = await connected();
  peer.setSources("2", [
    voice("2", 50),
    { userId: "2", kind: "screen", ssrc: 60, rtxSsrc: 61 },
    { userId: "2", kind: "screenSound", ssrc: 70, rtxSsrc: null },
  ]);
  await settle();
  expect(callbacks.onTrack.mock.calls.map(([, kind]) => kind as unknown)).toEqual([
    "voice",
    "screen",
    "screenSound",
  ]);
  expect(FakePeerConnection.last.transceivers.slice(4).map(({ kind }) => kind)).toEqual([
    "audio",
    "video",
    "audio",
  ]);
  expect(FakePeerConnection.last.answers.at(-1)).toMatch(
    /m=video [^]*a=msid:2 2-screen\r\na=ssrc-group:FID 60 61\r\na=ssrc:60 cname:2\r\na=ssrc:61 cname:2/,
  );
  peer.setSources("2", [voice("2", 50)]);
  await settle();
  peer.setSources("3", [{ userId: "3", kind: "camera", ssrc: 80, rtxSsrc: 81 }]);
  await settle();
  expect(callbacks.onTrack).toHaveBeenLastCalledWith("3", "camera", "track 5");
});

it("Only the layers that someone is sent are active", async () => {
  const peer = await connected();
  const active = () => FakePeerConnection.last.transceivers[1]?.encodings.map((each) => each.active);
  expect(active()).toEqual([false, false]);
  peer.setLayers("camera", new Set(["50"]), 15);
  await settle();
  expect(active()).toEqual([true, false]);
  expect(FakePeerConnection.last.transceivers[1]?.encodings[0]?.maxFramerate).toBe(15);
  peer.setLayers("camera", new Set(["50", "100"]), 15);
  await settle();
  expect(active()).toEqual([true, true]);
  expect(peer.screenSoundSsrc).toBe(903);
});

it("sends the microphone's sound with the bitrate of the channel, and nothing else", async () => {
  const peer = new VoicePeer(callbacks);
  await settle();
  peer.accept(SERVER);
  peer.setBitrate(96_000);
  await settle();
  const rates = FakePeerConnection.last.transceivers.map(({ encodings }) =>
    encodings.map(({ maxBitrate }) => maxBitrate),
  );
  expect(rates[0]).toEqual([96_000]);
  expect(rates.slice(1).flat()).not.toContain(96_000);
  peer.close();
});
