import { describe, expect, it } from "vitest";

import { extensionsOf, midsOf, readOffer, readServer, ssrcOf, writeAnswer } from "./sdp";

const OFFER = [
  "v=0",
  "a=group:BUNDLE 0 1",
  "m=audio 9 UDP/TLS/RTP/SAVPF 111 63",
  "a=ice-ufrag:m0yw",
  "a=ice-pwd:secret",
  "a=fingerprint:sha-256 F1:85",
  "a=mid:0",
  "a=sendrecv",
  "a=rtpmap:111 opus/48000/2",
  "a=rtpmap:63 red/48000/2",
  "m=audio 9 UDP/TLS/RTP/SAVPF 111 63",
  "a=ice-ufrag:m0yw",
  "a=ice-pwd:secret",
  "a=fingerprint:sha-256 F1:85",
  "a=mid:1",
  "a=recvonly",
  "a=rtpmap:111 opus/48000/2",
  "",
].join("\r\n");

const SERVER = readServer(
  [
    "m=audio 3333 ICE/SDP",
    "a=fingerprint:sha-256 9B:01",
    "c=IN IP4 203.0.113.7",
    "a=rtcp:3333",
    "a=ice-ufrag:Vd8s",
    "a=ice-pwd:hidden",
    "a=fingerprint:sha-256 9B:01",
    "a=candidate:1 1 UDP 4261412862 203.0.113.7 3333 typ host",
    "",
  ].join("\n"),
);

describe("an offer", () => {
  it("is sent as its keys and Opus alone, each once", () => {
    expect(readOffer(OFFER)).toEqual({
      sdp: "a=ice-ufrag:m0yw\na=ice-pwd:secret\na=fingerprint:sha-256 F1:85\na=rtpmap:111 opus/48000/2",
      payloadType: 111,
      video: [],
    });
    expect(midsOf(OFFER)).toEqual(["0", "1"]);
  });

  it("without Opus is refused", () => {
    expect(() => readOffer("m=audio 9 RTP 0\r\na=rtpmap:0 PCMU/8000")).toThrow("no Opus");
  });
});

describe("the answer to an offer", () => {
  const answer = writeAnswer(
    SERVER,
    { payloadType: 111, video: [], extensions: [] },
    [
      { mid: "0", kind: "audio", use: "own" },
      { mid: "1", kind: "audio", use: { userId: "77", ssrc: 5 } },
      { mid: "2", kind: "audio", use: "inactive" },
    ],
    4,
  );
  const [session = "", ...sections] = answer.split(/(?=m=audio )/);

  it("bundles all sections of the offer in their order", () => {
    expect(session).toContain("o=- 1 4 IN IP4 127.0.0.1\r\n");
    expect(session).toContain("a=group:BUNDLE 0 1 2\r\n");
    expect(session).toContain("a=ice-lite\r\n");
    expect(sections.map((section) => midsOf(section))).toEqual([["0"], ["1"], ["2"]]);
  });

  it("names the server in each section, with the connection line before the attributes", () => {
    for (const section of sections) {
      expect(section.split("\r\n").slice(0, 2)).toEqual([
        "m=audio 3333 UDP/TLS/RTP/SAVPF 111",
        "c=IN IP4 203.0.113.7",
      ]);
      expect(section.match(/^a=fingerprint:/gm)).toHaveLength(1);
      expect(section).toContain("a=candidate:1 1 UDP 4261412862 203.0.113.7 3333 typ host\r\n");
      expect(section).toContain("a=setup:passive\r\n");
      expect(section).not.toContain("a=extmap");
    }
  });

  it("receives the microphone, sends each user under their SSRC, and nothing in what is left over", () => {
    const [microphone, user, inactive] = sections;
    expect(microphone).toContain("a=recvonly\r\n");
    expect(user).toContain("a=sendonly\r\na=msid:77 77\r\na=ssrc:5 cname:77\r\n");
    expect(inactive).toContain("a=inactive\r\n");
  });
});

it("A server without a port is refused", () => {
  expect(() => readServer("a=ice-ufrag:x")).toThrow("no port");
});

describe("video", () => {
  const VIDEO = [
    OFFER.trimEnd(),
    "m=video 9 UDP/TLS/RTP/SAVPF 96 97 98 99 102 103",
    "a=mid:2",
    "a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time",
    "a=extmap:3 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
    "a=extmap:10 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id",
    "a=extmap:12 urn:3gpp:video-orientation",
    "a=rtpmap:96 VP8/90000",
    "a=rtpmap:97 rtx/90000",
    "a=fmtp:97 apt=96",
    "a=rtpmap:98 H264/90000",
    "a=fmtp:98 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f",
    "a=rtpmap:99 rtx/90000",
    "a=fmtp:99 apt=98",
    "a=rtpmap:102 H264/90000",
    "a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f",
    "a=rtpmap:103 rtx/90000",
    "a=fmtp:103 apt=102",
    "a=ssrc:77 cname:x",
    "",
  ].join("\r\n");
  const { video, sdp } = readOffer(VIDEO);

  it("is offered with the codecs that all browsers have, and the extensions that count", () => {
    expect(video.map(({ name, payloadType, rtxPayloadType }) => [name, payloadType, rtxPayloadType])).toEqual(
      [
        ["VP8", 96, 97],
        ["H264", 102, 103],
      ],
    );
    expect(sdp).toContain("a=extmap:10 ");
    expect(ssrcOf(VIDEO, "2")).toBe(77);
    expect(ssrcOf(VIDEO, "0")).toBe(0);
  });

  it("is answered by what is sent, and what is received", () => {
    const codecs = { payloadType: 111, video, extensions: extensionsOf(VIDEO) };
    const source = { userId: "7", ssrc: 5, rtxSsrc: 6, track: "7-camera" };
    const answer = writeAnswer(
      SERVER,
      codecs,
      [
        { mid: "2", kind: "video", use: "own", rids: ["50", "100"] },
        { mid: "3", kind: "video", use: source },
      ],
      1,
    );
    const [, own = "", received = ""] = answer.split(/(?=m=video )/);
    expect(own).toContain("m=video 3333 UDP/TLS/RTP/SAVPF 96 97 102 103\r\n");
    expect(own).toContain("a=rtcp-fb:96 transport-cc\r\n");
    expect(own).toContain("a=extmap:3 ");
    expect(own).toContain("a=rid:50 recv\r\na=rid:100 recv\r\na=simulcast:recv 50;100\r\n");
    expect(own).not.toContain("a=extmap:2 ");
    expect(received).toContain("a=rtcp-fb:102 goog-remb\r\n");
    expect(received).toContain("a=extmap:2 ");
    expect(received).not.toContain("a=extmap:3 ");
    expect(received).toContain("a=ssrc-group:FID 5 6\r\n");
    expect(answer).not.toContain("a=extmap:12 ");
  });
});
