import { describe, expect, it } from "vitest";

import { midsOf, readOffer, readServer, writeAnswer } from "./sdp";

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
    111,
    [
      { mid: "0", use: "microphone" },
      { mid: "1", use: { userId: "77", ssrc: 5 } },
      { mid: "2", use: "inactive" },
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
