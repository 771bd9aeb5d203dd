import { VoiceGateway, type EndReason } from "./gateway";
import { VoicePeer } from "./peer";
import type { VoiceIdentity } from "./protocol";
import type { Quality } from "./quality";

export interface VoiceCallCallbacks {
  /** A user's sound begins, or with null ends. */
  onTrack: (userId: string, track: MediaStreamTrack | null) => void;
  /** Sound can pass, or no longer can and is mended. */
  onConnected: (isConnected: boolean) => void;
  onEnd: (reason: EndReason, code: number) => void;
}

/** Speaking: a microphone. */
const VOICE = 1;
/** How long silence lasts before it is told. */
const SILENCE_MS = 500;
/** How often a way for datagrams is sought in a row before it counts as closed. */
const MAX_FAILURES = 2;

/** The sound of one user in one channel: the voice gateway's session, and the connection of its sound. */
export class VoiceCall {
  private readonly gateway: VoiceGateway;
  private peer: VoicePeer | null = null;
  private track: MediaStreamTrack | null = null;
  private ssrc = 0;
  private isSpeaking = false;
  private failures = 0;
  private silenceTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    url: string,
    readonly identity: VoiceIdentity,
    private readonly callbacks: VoiceCallCallbacks,
  ) {
    this.gateway = new VoiceGateway(url, identity, {
      onReady: ({ ssrc }) => this.begin(ssrc),
      onDescription: ({ sdp }) => {
        this.peer?.accept(sdp);
        this.tellSpeaking();
      },
      onSource: ({ user_id, audio_ssrc }) => this.setSource(user_id, audio_ssrc),
      onSpeaking: ({ user_id, ssrc }) => this.setSource(user_id, ssrc),
      onDisconnect: (userId) => this.peer?.removeSource(userId),
      onResumed: () => {
        this.peer?.sendAgain();
        this.tellSpeaking();
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
    void this.peer?.setTrack(track);
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
    this.gateway.close();
    this.closePeer();
  }

  private begin(ssrc: number): void {
    this.closePeer();
    this.ssrc = ssrc;
    this.callbacks.onConnected(false);
    const peer = new VoicePeer({
      onOffer: ({ sdp, payloadType }) => this.gateway.selectProtocol(sdp, payloadType),
      onTrack: this.callbacks.onTrack,
      onState: (state) => this.handleState(state),
      onError: () => this.fail(),
    });
    this.peer = peer;
    void peer.setTrack(this.track);
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

  private setSource(userId: string, ssrc: number): void {
    if (userId !== this.identity.userId && ssrc > 0) {
      this.peer?.setSource(userId, ssrc);
    }
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
