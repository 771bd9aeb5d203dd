import { VoiceGateway, type EndReason } from "./gateway";
import {
  LAYERS,
  SCREEN_SOUND,
  sourcesOf,
  type MediaKind,
  type MediaSource,
  type StreamEntry,
  type VideoKind,
} from "./media";
import { VoicePeer } from "./peer";
import type { VoiceIdentity, Wants } from "./protocol";
import type { Quality } from "./quality";

export interface VoiceCallCallbacks {
  /** A user's sound or video begins, or with null ends. */
  onTrack: (userId: string, kind: MediaKind, track: MediaStreamTrack | null) => void;
  /** Sound can pass, or no longer can and is mended. */
  onConnected: (isConnected: boolean) => void;
  onEnd: (reason: EndReason, code: number) => void;
}

/** What is shown of a video: a quality from 0, for nothing, to 100. */
export type Shown = (userId: string, kind: VideoKind) => number;

/** Video of the page: what is captured, and how many frames in a second are sent at most; 0 leaves that to the browser. */
export interface OwnVideo {
  track: MediaStreamTrack;
  sound: MediaStreamTrack | null;
  maxFramerate: number;
}

/** Speaking: a microphone. */
const VOICE = 1;
/** How long silence lasts before it is told. */
const SILENCE_MS = 500;
/** How often a way for datagrams is sought in a row before it counts as closed. */
const MAX_FAILURES = 2;
/** Between two messages about what is shown. */
const WANTS_MS = 250;

const VIDEO_KINDS: readonly VideoKind[] = ["camera", "screen"];

/** The sound and video of one user in one channel: the voice gateway's session, and the connection that carries them. */
export class VoiceCall {
  private readonly gateway: VoiceGateway;
  private peer: VoicePeer | null = null;
  private track: MediaStreamTrack | null = null;
  private readonly videos: Record<VideoKind, OwnVideo | null> = { camera: null, screen: null };
  /** The page's streams as the server knows them, and which of them others are sent. */
  private streams: readonly StreamEntry[] = [];
  private wanted: Wants = {};
  private sentWants = "";
  private sentLayers: Partial<Record<VideoKind, string>> = {};
  private ssrc = 0;
  private bitrate: number | null = null;
  private isSpeaking = false;
  private failures = 0;
  private silenceTimer: ReturnType<typeof setTimeout> | undefined;
  private wantsTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    url: string,
    readonly identity: VoiceIdentity,
    private readonly shown: Shown,
    private readonly callbacks: VoiceCallCallbacks,
  ) {
    this.gateway = new VoiceGateway(url, identity, {
      onReady: ({ ssrc, streams }) => this.begin(ssrc, streams),
      onDescription: ({ sdp }) => {
        this.peer?.accept(sdp);
        this.tellAll();
      },
      onSource: ({ user_id: userId, audio_ssrc: ssrc, streams }) => {
        if (userId !== this.identity.userId) {
          this.peer?.setSources(userId, sourcesOf(userId, ssrc, streams));
          this.showChanged();
        }
      },
      onSpeaking: ({ user_id: userId, ssrc }) => {
        if (userId !== this.identity.userId && ssrc > 0) {
          this.peer?.setSource({ userId, kind: "voice", ssrc, rtxSsrc: null });
        }
      },
      onWants: (wants) => {
        this.wanted = wants;
        this.applyLayers();
      },
      onDisconnect: (userId) => this.peer?.setSources(userId, []),
      onResumed: () => {
        this.peer?.sendAgain();
        this.tellAll();
      },
      onLost: () => undefined,
      onEnd: (reason, code) => {
        this.closePeer();
        this.callbacks.onEnd(reason, code);
      },
    });
    this.gateway.connect();
  }

  /** What is sent; null for nothing. */
  setTrack(track: MediaStreamTrack | null): void {
    this.track = track;
    void this.peer?.setTrack("voice", track);
  }

  /** How many bits of sound are sent in a second; the same again changes nothing. */
  setBitrate(bitrate: number): void {
    if (bitrate !== this.bitrate) {
      this.bitrate = bitrate;
      this.peer?.setBitrate(bitrate);
    }
  }

  /** Send a camera or a screen, or with null no longer. */
  setVideo(kind: VideoKind, video: OwnVideo | null): void {
    this.videos[kind] = video;
    this.sendVideo(kind);
    this.tellStreams();
  }

  /** What is shown has changed: the server sends no more than that. */
  showChanged(): void {
    this.wantsTimer ??= setTimeout(() => {
      this.wantsTimer = undefined;
      this.tellWants();
    }, WANTS_MS);
  }

  /** That speaking has ended is told later: the server ends the connection of who tells too much. */
  setSpeaking(isSpeaking: boolean): void {
    clearTimeout(this.silenceTimer);
    if (isSpeaking && !this.isSpeaking) {
      this.isSpeaking = true;
      this.tellSpeaking();
    } else if (!isSpeaking && this.isSpeaking) {
      this.silenceTimer = setTimeout(() => {
        this.isSpeaking = false;
        this.tellSpeaking();
      }, SILENCE_MS);
    }
  }

  /** The network is another one: find a new way at once instead of when the old one has timed out. */
  changeNetwork(): void {
    this.gateway.connect();
    this.gateway.reconnect();
    this.peer?.restart();
  }

  quality(): Promise<Quality | null> {
    return this.peer?.quality() ?? Promise.resolve(null);
  }

  close(): void {
    clearTimeout(this.silenceTimer);
    clearTimeout(this.wantsTimer);
    this.gateway.close();
    this.closePeer();
  }

  private begin(ssrc: number, streams: readonly StreamEntry[]): void {
    this.closePeer();
    this.ssrc = ssrc;
    this.streams = streams;
    this.wanted = {};
    this.sentWants = "";
    this.sentLayers = {};
    this.callbacks.onConnected(false);
    const peer = new VoicePeer({
      onOffer: (offer) => this.gateway.selectProtocol(offer),
      onTrack: this.callbacks.onTrack,
      onState: (state) => this.handleState(state),
      onError: () => this.fail(),
    });
    this.peer = peer;
    void peer.setTrack("voice", this.track);
    if (this.bitrate !== null) {
      peer.setBitrate(this.bitrate);
    }
    VIDEO_KINDS.forEach((kind) => this.sendVideo(kind));
  }

  private handleState(state: RTCPeerConnectionState): void {
    if (state === "connected") {
      this.failures = 0;
      this.callbacks.onConnected(true);
    } else if (state === "disconnected") {
      this.callbacks.onConnected(false);
      this.peer?.restart();
    } else if (state === "failed") {
      this.fail();
    }
  }

  /** Begin anew, but not without end: a firewall may let no datagrams pass. */
  private fail(): void {
    this.callbacks.onConnected(false);
    this.failures += 1;
    if (this.failures > MAX_FAILURES) {
      this.close();
      this.callbacks.onEnd("unreachable", 0);
    } else {
      this.closePeer();
      this.gateway.restart();
    }
  }

  // What the page sends

  private sendVideo(kind: VideoKind): void {
    const video = this.videos[kind];
    void this.peer?.setTrack(kind, video?.track ?? null);
    if (kind === "screen") {
      void this.peer?.setTrack("screenSound", video?.sound ?? null);
    }
    this.applyLayers();
  }

  /** Send those layers that someone is sent. */
  private applyLayers(): void {
    for (const kind of VIDEO_KINDS) {
      const video = this.videos[kind];
      const rids = LAYERS[kind].map(({ rid }) => rid);
      const isWanted = (rid: string) => (this.wanted[String(this.ssrcOf(rid))] ?? 0) > 0;
      const sent = video === null ? [] : rids.filter(isWanted);
      const maxFramerate = video?.maxFramerate ?? 0;
      const text = `${sent.join()} ${maxFramerate}`;
      if (this.peer !== null && this.sentLayers[kind] !== text) {
        this.sentLayers[kind] = text;
        this.peer.setLayers(kind, new Set(sent), maxFramerate);
      }
    }
  }

  private ssrcOf(rid: string): number {
    return this.streams.find((each) => each.rid === rid)?.ssrc ?? 0;
  }

  // What the server is told

  private tellAll(): void {
    this.tellSpeaking();
    this.tellStreams();
    this.sentWants = "";
    this.tellWants();
  }

  private tellStreams(): void {
    const { peer, videos } = this;
    const isSent = (kind: VideoKind) => videos[kind] !== null;
    if (peer === null) {
      return;
    }
    this.gateway.sendStreams(this.ssrc, [
      ...VIDEO_KINDS.flatMap((kind) =>
        LAYERS[kind].map(({ type, rid, quality, maxBitrate }) => ({
          type,
          rid,
          quality,
          active: isSent(kind),
          max_bitrate: maxBitrate,
        })),
      ),
      { ...SCREEN_SOUND, active: (videos.screen?.sound ?? null) !== null, ssrc: peer.screenSoundSsrc },
    ]);
  }

  private tellWants(): void {
    const sources = this.peer?.allSources ?? [];
    const entries = sources.map((source): [string, number] => [String(source.ssrc), this.wantOf(source)]);
    const wants = { any: 0, ...Object.fromEntries(entries) };
    const text = JSON.stringify(wants);
    if (text !== this.sentWants) {
      this.sentWants = text;
      this.gateway.sendWants(wants);
    }
  }

  private wantOf({ userId, kind }: MediaSource): number {
    return kind === "camera" || kind === "screen" ? this.shown(userId, kind) : 100;
  }

  private tellSpeaking(): void {
    if (this.peer !== null) {
      this.gateway.speak(this.isSpeaking ? VOICE : 0, this.ssrc);
    }
  }

  private closePeer(): void {
    this.peer?.close();
    this.peer = null;
  }
}
