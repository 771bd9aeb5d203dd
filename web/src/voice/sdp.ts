/** The lines of a browser's offer that the server needs, and the payload type of Opus in it. */
export interface OfferFragment {
  sdp: string;
  payloadType: number;
}

/** Where the server receives and by what it is known: what Session Description brings. */
export interface ServerFragment {
  port: string;
  /** The lines that each section of an answer has in common. */
  lines: readonly string[];
}

/** What a section of an answer says: the microphone is received, a user's sound is sent, or nothing is. */
export type SectionUse = "microphone" | "inactive" | { userId: string; ssrc: number };

export interface Section {
  mid: string;
  use: SectionUse;
}

const OPUS = /^a=rtpmap:(\d+) opus\/48000\/2$/i;
const OFFERED = /^a=(?:ice-ufrag|ice-pwd|fingerprint):/;
const ANSWERED = /^(?:c=|a=(?:ice-ufrag|ice-pwd|fingerprint|candidate):)/;

function linesOf(sdp: string): string[] {
  return sdp.split(/\r?\n/);
}

/** The fragment of an offer. Throws for one without Opus. */
export function readOffer(sdp: string): OfferFragment {
  const lines = linesOf(sdp);
  const opus = lines.find((line) => OPUS.test(line));
  const payloadType = Number(OPUS.exec(opus ?? "")?.[1]);
  if (opus === undefined || Number.isNaN(payloadType)) {
    throw new Error("the browser offers no Opus");
  }
  const needed = new Set(lines.filter((line) => OFFERED.test(line)));
  return { sdp: [...needed, opus].join("\n"), payloadType };
}

/** The mids of the sections of a description, in their order. */
export function midsOf(sdp: string): string[] {
  return linesOf(sdp)
    .filter((line) => line.startsWith("a=mid:"))
    .map((line) => line.slice("a=mid:".length));
}

/** What the server says of itself. Throws for a fragment without a port. */
export function readServer(sdp: string): ServerFragment {
  const lines = linesOf(sdp);
  const port = /^m=audio (\d+)/.exec(lines.find((line) => line.startsWith("m=audio")) ?? "")?.[1];
  if (port === undefined) {
    throw new Error("the server names no port");
  }
  return { port, lines: [...new Set(lines.filter((line) => ANSWERED.test(line)))] };
}

/** Write the server's answer to an offer with these sections; `version` grows with each answer. */
export function writeAnswer(
  server: ServerFragment,
  payloadType: number,
  sections: readonly Section[],
  version: number,
): string {
  const lines = [
    "v=0",
    `o=- 1 ${version} IN IP4 127.0.0.1`,
    "s=-",
    "t=0 0",
    "a=ice-lite",
    "a=msid-semantic: WMS *",
    `a=group:BUNDLE ${sections.map(({ mid }) => mid).join(" ")}`,
    ...sections.flatMap((section) => writeSection(server, payloadType, section)),
  ];
  return `${lines.join("\r\n")}\r\n`;
}

function writeSection({ port, lines }: ServerFragment, payloadType: number, section: Section): string[] {
  return [
    `m=audio ${port} UDP/TLS/RTP/SAVPF ${payloadType}`,
    // A connection line stands before attributes.
    ...lines.toSorted((a, b) => Number(b.startsWith("c=")) - Number(a.startsWith("c="))),
    "a=end-of-candidates",
    "a=setup:passive",
    `a=mid:${section.mid}`,
    "a=rtcp-mux",
    `a=rtpmap:${payloadType} opus/48000/2`,
    `a=fmtp:${payloadType} minptime=10;useinbandfec=1;usedtx=1`,
    ...writeUse(section.use),
  ];
}

function writeUse(use: SectionUse): string[] {
  if (use === "microphone") {
    return ["a=recvonly"];
  }
  if (use === "inactive") {
    return ["a=inactive"];
  }
  const { userId, ssrc } = use;
  return ["a=sendonly", `a=msid:${userId} ${userId}`, `a=ssrc:${ssrc} cname:${userId}`];
}
