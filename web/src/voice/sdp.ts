/** A codec of video in an offer; `fmtp` are the lines with its parameters. */
export interface VideoCodec {
  name: "VP8" | "H264";
  payloadType: number;
  rtxPayloadType: number;
  fmtp: readonly string[];
}

/** The lines of a browser's offer that the server needs, and its codecs. */
export interface OfferFragment {
  sdp: string;
  /** Of Opus. */
  payloadType: number;
  /** Those that are carried, the preferred one first. */
  video: readonly VideoCodec[];
}

/** Where the server receives and by what it is known: what Session Description brings. */
export interface ServerFragment {
  port: string;
  /** The lines that each section of an answer has in common. */
  lines: readonly string[];
}

/** What a section of an answer says: the page's own media are received, a user's media are sent, or nothing is. */
export type SectionUse =
  "own" | "inactive" | { userId: string; ssrc: number; rtxSsrc?: number; track?: string };

export interface Section {
  mid: string;
  kind: "audio" | "video";
  use: SectionUse;
  /** The layers of video that the page may send, the worst first. */
  rids?: readonly string[];
}

/** What an answer takes over from its offer. */
export interface Codecs {
  payloadType: number;
  video: readonly VideoCodec[];
  /** The lines `a=extmap` of sections of video. */
  extensions: readonly string[];
}

const OPUS = /^a=rtpmap:(\d+) opus\/48000\/2$/i;
const OFFERED = /^a=(?:ice-ufrag|ice-pwd|fingerprint|extmap):/;
const ANSWERED = /^(?:c=|a=(?:ice-ufrag|ice-pwd|fingerprint|candidate):)/;
const SENT_EXTENSIONS = /(?:transport-wide-cc|:rtp-stream-id|:repaired-rtp-stream-id)/;
const RECEIVED_EXTENSIONS = /abs-send-time/;
/** H.264 as all browsers have it. */
const BASELINE = /profile-level-id=42[0-9a-f]{4}/i;

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
  return { sdp: [...needed, opus].join("\n"), payloadType, video: readVideo(lines) };
}

function readVideo(lines: readonly string[]): VideoCodec[] {
  const first = lines.findIndex((line) => line.startsWith("m=video"));
  const section = first < 0 ? [] : lines.slice(first);
  const codec = (name: VideoCodec["name"], isRight: (fmtp: string) => boolean): VideoCodec[] => {
    for (const line of section) {
      const payloadType = new RegExp(`^a=rtpmap:(\\d+) ${name}/90000$`, "i").exec(line)?.[1];
      const fmtp = [...new Set(section.filter((each) => each.startsWith(`a=fmtp:${payloadType ?? ""} `)))];
      const rtx = section
        .map((each) => new RegExp(`^a=fmtp:(\\d+) apt=${payloadType ?? ""}$`).exec(each)?.[1])
        .find((each) => each !== undefined);
      if (payloadType !== undefined && rtx !== undefined && isRight(fmtp.join())) {
        return [{ name, payloadType: Number(payloadType), rtxPayloadType: Number(rtx), fmtp }];
      }
    }
    return [];
  };
  return [
    ...codec("VP8", () => true),
    ...codec("H264", (fmtp) => BASELINE.test(fmtp) && fmtp.includes("packetization-mode=1")),
  ];
}

/** The header extensions of video in an offer. */
export function extensionsOf(sdp: string): string[] {
  const lines = linesOf(sdp);
  const first = lines.findIndex((line) => line.startsWith("m=video"));
  return first < 0 ? [] : [...new Set(lines.slice(first).filter((line) => line.startsWith("a=extmap:")))];
}

/** The mids of the sections of a description, in their order. */
export function midsOf(sdp: string): string[] {
  return linesOf(sdp)
    .filter((line) => line.startsWith("a=mid:"))
    .map((line) => line.slice("a=mid:".length));
}

/** The SSRC in a section of an offer; 0 for none. */
export function ssrcOf(sdp: string, mid: string): number {
  const section = sdp.split(/^(?=m=)/m).find((each) => linesOf(each).includes(`a=mid:${mid}`)) ?? "";
  return Number(/^a=ssrc:(\d+) /m.exec(section)?.[1] ?? 0);
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
  codecs: Codecs,
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
    ...sections.flatMap((section) => writeSection(server, codecs, section)),
  ];
  return `${lines.join("\r\n")}\r\n`;
}

function writeSection({ port, lines }: ServerFragment, codecs: Codecs, section: Section): string[] {
  const { payloadType, video } = codecs;
  const types =
    section.kind === "audio"
      ? [payloadType]
      : video.flatMap((each) => [each.payloadType, each.rtxPayloadType]);
  return [
    `m=${section.kind} ${port} UDP/TLS/RTP/SAVPF ${types.join(" ")}`,
    // A connection line stands before attributes.
    ...lines.toSorted((a, b) => Number(b.startsWith("c=")) - Number(a.startsWith("c="))),
    "a=end-of-candidates",
    "a=setup:passive",
    `a=mid:${section.mid}`,
    "a=rtcp-mux",
    ...(section.kind === "audio"
      ? [`a=rtpmap:${payloadType} opus/48000/2`, `a=fmtp:${payloadType} minptime=10;useinbandfec=1;usedtx=1`]
      : writeVideo(codecs, section)),
    ...writeUse(section.use),
  ];
}

function writeVideo({ video, extensions }: Codecs, { use, rids = [] }: Section): string[] {
  const isOwn = use === "own";
  const feedback = ["nack", "nack pli", isOwn ? "transport-cc" : "goog-remb"];
  const needed = isOwn ? SENT_EXTENSIONS : RECEIVED_EXTENSIONS;
  return [
    ...video.flatMap(({ name, payloadType, rtxPayloadType, fmtp }) => [
      `a=rtpmap:${payloadType} ${name}/90000`,
      ...feedback.map((each) => `a=rtcp-fb:${payloadType} ${each}`),
      ...fmtp,
      `a=rtpmap:${rtxPayloadType} rtx/90000`,
      `a=fmtp:${rtxPayloadType} apt=${payloadType}`,
    ]),
    ...extensions.filter((line) => needed.test(line)),
    ...(isOwn && rids.length > 1
      ? [...rids.map((rid) => `a=rid:${rid} recv`), `a=simulcast:recv ${rids.join(";")}`]
      : []),
  ];
}

function writeUse(use: SectionUse): string[] {
  if (use === "own") {
    return ["a=recvonly"];
  }
  if (use === "inactive") {
    return ["a=inactive"];
  }
  const { userId, ssrc, rtxSsrc, track = userId } = use;
  const ssrcs = rtxSsrc === undefined ? [ssrc] : [ssrc, rtxSsrc];
  return [
    "a=sendonly",
    `a=msid:${userId} ${track}`,
    ...(rtxSsrc === undefined ? [] : [`a=ssrc-group:FID ${ssrc} ${rtxSsrc}`]),
    ...ssrcs.map((each) => `a=ssrc:${each} cname:${userId}`),
  ];
}
