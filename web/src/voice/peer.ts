import { midsOf, readOffer, readServer, writeAnswer, type OfferFragment, type ServerFragment } from "./sdp";
import { readQuality, type Quality, type QualityCounters } from "./quality";

export interface VoicePeerCallbacks {
  /** Send the fragment of an offer; the answer comes by `accept`. */
  onOffer: (offer: OfferFragment) => void;
  /** A user's sound begins, or with null ends. */
  onTrack: (userId: string, track: MediaStreamTrack | null) => void;
  onState: (state: RTCPeerConnectionState) => void;
  onError: (error: unknown) => void;
}

/** A transceiver that receives one user's sound, or waits for the next user. */
interface Receiver {
  transceiver: RTCRtpTransceiver;
  userId: string | null;
  ssrc: number;
}

/** The microphone's transceiver is the first section. */
const MICROPHONE = 0;

/**
 * The connection that carries sound: one for all users. Offers and answers are made one after the other, in the order in
 * which something has changed.
 */
export class VoicePeer {
  private readonly connection = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
  private readonly microphone: RTCRtpTransceiver;
  private readonly receivers: Receiver[] = [];
  /** The SSRC of each user's sound. */
  private readonly sources = new Map<string, number>();
  private server: ServerFragment | null = null;
  private payloadType = 0;
  private version = 0;
  private work: Promise<void> = Promise.resolve();
  private isScheduled = false;
  /** The offer that was sent, until its answer has come. */
  private sentOffer: OfferFragment | null = null;
  private answered: ((server: ServerFragment) => void) | null = null;
  private counters: QualityCounters | null = null;
  private closed = false;

  constructor(private readonly callbacks: VoicePeerCallbacks) {
    this.microphone = this.connection.addTransceiver("audio", { direction: "sendrecv" });
    this.connection.onconnectionstatechange = () => {
      if (!this.closed) {
        this.callbacks.onState(this.connection.connectionState);
      }
    };
    this.enqueue(() => this.connect());
  }

  /** What is sent; null for nothing. */
  async setTrack(track: MediaStreamTrack | null): Promise<void> {
    if (!this.closed) {
      await this.microphone.sender.replaceTrack(track);
    }
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

  /** A user's sound has an SSRC from now on. */
  setSource(userId: string, ssrc: number): void {
    if (this.sources.get(userId) !== ssrc) {
      this.sources.set(userId, ssrc);
      this.schedule();
    }
  }

  removeSource(userId: string): void {
    if (this.sources.delete(userId)) {
      this.schedule();
    }
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
    for (const { userId } of this.receivers) {
      if (userId !== null) {
        this.callbacks.onTrack(userId, null);
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
    this.payloadType = offer.payloadType;
    const answer = new Promise<ServerFragment>((resolve) => {
      this.answered = resolve;
    });
    this.sentOffer = offer;
    this.callbacks.onOffer(offer);
    this.server = await answer;
    this.sentOffer = this.answered = null;
    await this.answer(sdp);
  }

  /** Change which users are received, which the server need not be asked about. */
  private async negotiate(): Promise<void> {
    for (const receiver of this.receivers) {
      if (receiver.userId !== null && this.sources.get(receiver.userId) !== receiver.ssrc) {
        this.callbacks.onTrack(receiver.userId, null);
        receiver.userId = null;
      }
    }
    const received = new Set(this.receivers.map(({ userId }) => userId));
    const added = [...this.sources].filter(([userId]) => !received.has(userId));
    const assigned = added.map(([userId, ssrc]) => this.assign(userId, ssrc));
    await this.answer(await this.offer());
    for (const { userId, transceiver } of assigned) {
      if (userId !== null) {
        this.callbacks.onTrack(userId, transceiver.receiver.track);
      }
    }
  }

  /** Give a user a transceiver that is free, else a new one. */
  private assign(userId: string, ssrc: number): Receiver {
    let receiver = this.receivers.find((each) => each.userId === null);
    if (receiver === undefined) {
      const transceiver = this.connection.addTransceiver("audio", { direction: "recvonly" });
      receiver = { transceiver, userId, ssrc };
      this.receivers.push(receiver);
    }
    return Object.assign(receiver, { userId, ssrc });
  }

  private async offer(): Promise<string> {
    const { sdp = "" } = await this.connection.createOffer();
    await this.connection.setLocalDescription({ type: "offer", sdp });
    return sdp;
  }

  private async answer(offer: string): Promise<void> {
    if (this.closed || this.server === null) {
      return;
    }
    const sections = midsOf(offer).map((mid, index) => {
      const receiver = this.receivers.find(({ transceiver }) => transceiver.mid === mid);
      const use = receiver?.userId ? { userId: receiver.userId, ssrc: receiver.ssrc } : "inactive";
      return { mid, use: index === MICROPHONE ? "microphone" : use } as const;
    });
    this.version += 1;
    const sdp = writeAnswer(this.server, this.payloadType, sections, this.version);
    await this.connection.setRemoteDescription({ type: "answer", sdp });
  }
}
