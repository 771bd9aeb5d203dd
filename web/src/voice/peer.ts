import { LAYERS, type MediaKind, type MediaSource, type VideoKind } from "./media";
import {
  extensionsOf,
  midsOf,
  readOffer,
  readServer,
  ssrcOf,
  writeAnswer,
  type OfferFragment,
  type Section,
  type SectionUse,
  type ServerFragment,
} from "./sdp";
import { readQuality, type Quality, type QualityCounters } from "./quality";

export interface VoicePeerCallbacks {
  /** Send the fragment of an offer; the answer comes by `accept`. */
  onOffer: (offer: OfferFragment) => void;
  /** A user's sound or video begins, or with null ends. */
  onTrack: (userId: string, kind: MediaKind, track: MediaStreamTrack | null) => void;
  onState: (state: RTCPeerConnectionState) => void;
  onError: (error: unknown) => void;
}

/** A transceiver that receives one source, or waits for the next one of its kind. */
interface Receiver {
  transceiver: RTCRtpTransceiver;
  media: "audio" | "video";
  source: MediaSource | null;
}

/** What the page sends: the sections of its own, which come first. */
const OWN: readonly MediaKind[] = ["voice", "camera", "screen", "screenSound"];

function mediaOf(kind: MediaKind): "audio" | "video" {
  return kind === "camera" || kind === "screen" ? "video" : "audio";
}

function keyOf({ userId, kind }: Pick<MediaSource, "userId" | "kind">): string {
  return `${kind} ${userId}`;
}

/**
 * The connection that carries sound and video: one for all users. Offers and answers are made one after the other, in the
 * order in which something has changed.
 */
export class VoicePeer {
  private readonly connection = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
  private readonly own: Record<MediaKind, RTCRtpTransceiver>;
  private readonly receivers: Receiver[] = [];
  /** The sources of others, by kind and user. */
  private readonly sources = new Map<string, MediaSource>();
  private server: ServerFragment | null = null;
  private codecs: OfferFragment | null = null;
  private version = 0;
  private work: Promise<void> = Promise.resolve();
  private isScheduled = false;
  /** The offer that was sent, until its answer has come. */
  private sentOffer: OfferFragment | null = null;
  private answered: ((server: ServerFragment) => void) | null = null;
  private counters: QualityCounters | null = null;
  private closed = false;
  private offered = "";

  constructor(private readonly callbacks: VoicePeerCallbacks) {
    const { connection } = this;
    const video = (kind: VideoKind) =>
      connection.addTransceiver("video", {
        direction: "sendonly",
        sendEncodings: LAYERS[kind].map(({ rid, scaleResolutionDownBy, maxBitrate }) => ({
          rid,
          scaleResolutionDownBy,
          maxBitrate,
          active: false,
        })),
      });
    this.own = {
      voice: connection.addTransceiver("audio", { direction: "sendrecv" }),
      camera: video("camera"),
      screen: video("screen"),
      screenSound: connection.addTransceiver("audio", { direction: "sendonly" }),
    };
    this.connection.onconnectionstatechange = () => {
      if (!this.closed) {
        this.callbacks.onState(this.connection.connectionState);
      }
    };
    this.enqueue(() => this.connect());
  }

  /** What is sent of a kind; null for nothing. */
  async setTrack(kind: MediaKind, track: MediaStreamTrack | null): Promise<void> {
    if (!this.closed) {
      await this.own[kind].sender.replaceTrack(track);
    }
  }

  /** Send those layers of a kind that someone is sent, the frames as fast as is wanted; 0 leaves it to the browser. */
  setLayers(kind: VideoKind, rids: ReadonlySet<string>, maxFramerate: number): void {
    this.enqueue(async () => {
      const { sender } = this.own[kind];
      const parameters = sender.getParameters();
      for (const encoding of parameters.encodings) {
        encoding.active = rids.has(encoding.rid ?? "");
        if (maxFramerate > 0) {
          encoding.maxFramerate = maxFramerate;
        }
      }
      await sender.setParameters(parameters);
    });
  }

  /** How many bits of the microphone's sound are sent in a second. */
  setBitrate(bitrate: number): void {
    this.enqueue(async () => {
      const { sender } = this.own.voice;
      const parameters = sender.getParameters();
      for (const encoding of parameters.encodings) {
        encoding.maxBitrate = bitrate;
      }
      await sender.setParameters(parameters);
    });
  }

  /** The SSRC of the screen's sound; 0 before it is known. */
  get screenSoundSsrc(): number {
    return ssrcOf(this.offered, this.own.screenSound.mid ?? "");
  }

  /** Take the server's answer to the offer that was sent. */
  accept(sdp: string): void {
    this.answered?.(readServer(sdp));
  }

  /** Send the offer again whose answer has not come. */
  sendAgain(): void {
    if (this.sentOffer !== null) {
      this.callbacks.onOffer(this.sentOffer);
    }
  }

  /** Find a way to the server anew, with the same keys. */
  restart(): void {
    this.enqueue(async () => {
      this.connection.restartIce();
      await this.connect();
    });
  }

  /** A source has this SSRC from now on. */
  setSource(source: MediaSource): void {
    if (this.sources.get(keyOf(source))?.ssrc !== source.ssrc) {
      this.sources.set(keyOf(source), source);
      this.schedule();
    }
  }

  /** These are all sources of a user. */
  setSources(userId: string, sources: readonly MediaSource[]): void {
    for (const kind of OWN) {
      const source = sources.find((each) => each.kind === kind);
      if (source !== undefined) {
        this.setSource(source);
      } else if (this.sources.delete(keyOf({ userId, kind }))) {
        this.schedule();
      }
    }
  }

  /** The sources of others. */
  get allSources(): readonly MediaSource[] {
    return [...this.sources.values()];
  }

  /** The quality since the last call; null until there are figures. */
  async quality(): Promise<Quality | null> {
    const report = await this.connection.getStats();
    const [quality, counters] = readQuality([...report.values()] as Record<string, unknown>[], this.counters);
    this.counters = counters;
    return quality;
  }

  close(): void {
    this.closed = true;
    this.connection.close();
    this.sources.clear();
    for (const { source } of this.receivers) {
      if (source !== null) {
        this.callbacks.onTrack(source.userId, source.kind, null);
      }
    }
  }

  private enqueue(step: () => Promise<void>): void {
    this.work = this.work.then(async () => {
      if (!this.closed) {
        await step();
      }
    });
    this.work = this.work.catch((error: unknown) => {
      if (!this.closed) {
        this.callbacks.onError(error);
      }
    });
  }

  /** Make one offer for all changes until then. */
  private schedule(): void {
    if (!this.isScheduled) {
      this.isScheduled = true;
      this.enqueue(async () => {
        this.isScheduled = false;
        await this.negotiate();
      });
    }
  }

  /** Offer to the server, and take its answer. */
  private async connect(): Promise<void> {
    const sdp = await this.offer();
    const offer = readOffer(sdp);
    this.codecs = offer;
    const answer = new Promise<ServerFragment>((resolve) => {
      this.answered = resolve;
    });
    this.sentOffer = offer;
    this.callbacks.onOffer(offer);
    this.server = await answer;
    this.sentOffer = this.answered = null;
    await this.answer(sdp);
  }

  /** Change which sources are received, which the server need not be asked about. */
  private async negotiate(): Promise<void> {
    for (const receiver of this.receivers) {
      const { source } = receiver;
      if (source !== null && this.sources.get(keyOf(source))?.ssrc !== source.ssrc) {
        this.callbacks.onTrack(source.userId, source.kind, null);
        receiver.source = null;
      }
    }
    const received = new Set(this.receivers.map(({ source }) => source !== null && keyOf(source)));
    const added = [...this.sources].filter(([key]) => !received.has(key)).map(([, source]) => source);
    const assigned = added.map((source) => this.assign(source));
    await this.answer(await this.offer());
    for (const { source, transceiver } of assigned) {
      if (source !== null) {
        this.callbacks.onTrack(source.userId, source.kind, transceiver.receiver.track);
      }
    }
  }

  /** Give a source a transceiver that is free, else a new one. */
  private assign(source: MediaSource): Receiver {
    const media = mediaOf(source.kind);
    let receiver = this.receivers.find((each) => each.source === null && each.media === media);
    if (receiver === undefined) {
      const transceiver = this.connection.addTransceiver(media, { direction: "recvonly" });
      receiver = { transceiver, media, source };
      this.receivers.push(receiver);
    }
    return Object.assign(receiver, { source });
  }

  private async offer(): Promise<string> {
    const { sdp = "" } = await this.connection.createOffer();
    await this.connection.setLocalDescription({ type: "offer", sdp });
    this.offered = sdp;
    return sdp;
  }

  private async answer(offer: string): Promise<void> {
    if (this.closed || this.server === null || this.codecs === null) {
      return;
    }
    const { payloadType, video } = this.codecs;
    const sections = midsOf(offer).map((mid) => this.section(mid));
    this.version += 1;
    const codecs = { payloadType, video, extensions: extensionsOf(offer) };
    const sdp = writeAnswer(this.server, codecs, sections, this.version);
    await this.connection.setRemoteDescription({ type: "answer", sdp });
  }

  private section(mid: string): Section {
    const own = OWN.find((kind) => this.own[kind].mid === mid);
    if (own !== undefined) {
      const kind = mediaOf(own);
      const rids = own === "camera" || own === "screen" ? LAYERS[own].map(({ rid }) => rid) : [];
      return { mid, kind, use: "own", rids };
    }
    const receiver = this.receivers.find(({ transceiver }) => transceiver.mid === mid);
    const source = receiver?.source ?? null;
    const use: SectionUse =
      source === null
        ? "inactive"
        : {
            userId: source.userId,
            ssrc: source.ssrc,
            ...(source.rtxSsrc !== null && { rtxSsrc: source.rtxSsrc }),
            ...(source.kind !== "voice" && { track: `${source.userId}-${source.kind}` }),
          };
    return { mid, kind: receiver?.media ?? "audio", use };
  }
}
