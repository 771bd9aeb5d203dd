import { backoff } from "../gateway/session";
import { STREAMS, type StreamEntry } from "./media";
import {
  afterClose,
  Opcode,
  type Payload,
  type Ready,
  type SessionDescription,
  type Source,
  type Speaking,
  type VoiceIdentity,
  type Wants,
} from "./protocol";
import type { OfferFragment } from "./sdp";

/** A session that was lost for longer is not there any more. */
const RESUME_MS = 60_000;
/** Heartbeats are sent at least so often: their answers tell of a lost network sooner than the server requires. */
const MAX_HEARTBEAT_MS = 5_000;
/** How often a new session is begun after another while none of them got as far as its description. */
const MAX_FRUITLESS = 6;

/** Why a connection has ended for good. */
export type EndReason =
  /** A new token is needed. */
  | "renew"
  /** The user was disconnected or moved. */
  | "disconnected"
  /** The server refuses what this client sends, or end-to-end encryption is demanded. */
  | "refused"
  /** The server does not answer. */
  | "unreachable";

export interface VoiceGatewayCallbacks {
  /** A new session: everything known of an earlier one is void. */
  onReady: (ready: Ready) => void;
  onDescription: (description: SessionDescription) => void;
  onSource: (source: Source) => void;
  onSpeaking: (speaking: Speaking) => void;
  /** Which of the page's streams others are sent. */
  onWants: (wants: Wants) => void;
  onDisconnect: (userId: string) => void;
  /** The session goes on over a new connection. */
  onResumed: () => void;
  /** The connection is lost, and is opened again. */
  onLost: () => void;
  onEnd: (reason: EndReason, code: number) => void;
}

/** A session of the voice gateway (version 8), which connects again and resumes by itself until it ends. */
export class VoiceGateway {
  private socket: WebSocket | null = null;
  private heartbeatTimer: ReturnType<typeof setTimeout> | undefined;
  private reconnectTimer: ReturnType<typeof setTimeout> | undefined;
  private acknowledged = true;
  private sequence = -1;
  /** Whether a session was begun that can be resumed. */
  private begun = false;
  /** Whether the connection has that session: before, the server refuses everything else. */
  private attached = false;
  /** When the session lost its connection, in milliseconds since the epoch; 0 while it has one. */
  private lostAt = 0;
  private attempts = 0;
  private fruitless = 0;
  private closed = false;

  constructor(
    private readonly url: string,
    private readonly identity: VoiceIdentity,
    private readonly callbacks: VoiceGatewayCallbacks,
  ) {}

  /** Open the connection, or open it again at once if it waits to. */
  connect(): void {
    if (this.closed || this.socket !== null) {
      return;
    }
    clearTimeout(this.reconnectTimer);
    const socket = new WebSocket(this.url);
    // Messages of end-to-end encryption would be binary; this client has not announced it and gets none.
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (this.socket === socket && typeof data === "string") {
        this.handle(JSON.parse(data) as Payload);
      }
    };
    socket.onclose = ({ code }) => {
      if (this.socket === socket) {
        this.handleClose(code);
      }
    };
  }

  /** Give up the connection, which the network has lost, and open another one at once. */
  reconnect(): void {
    if (!this.closed && this.socket !== null) {
      this.lose();
      this.connect();
    }
  }

  /** Begin a new session. */
  restart(): void {
    this.begun = false;
    if (this.socket === null) {
      this.connect();
    } else {
      this.reconnect();
    }
  }

  /** Nothing is sent while the session has no connection: once it has, `onResumed` is called. */
  selectProtocol({ sdp, payloadType, video }: OfferFragment): void {
    this.tell(Opcode.SelectProtocol, {
      protocol: "webrtc",
      data: sdp,
      sdp,
      codecs: [
        { name: "opus", type: "audio", priority: 1000, payload_type: payloadType },
        ...video.map((codec, index) => ({
          name: codec.name,
          type: "video",
          priority: 1000 * (index + 1),
          payload_type: codec.payloadType,
          rtx_payload_type: codec.rtxPayloadType,
        })),
      ],
      rtc_connection_id: crypto.randomUUID(),
    });
  }

  /** The same holds for this. */
  speak(speaking: number, ssrc: number): void {
    this.tell(Opcode.Speaking, { speaking, delay: 0, ssrc });
  }

  /** Which streams are sent beside the microphone; and so does this. */
  sendStreams(ssrc: number, streams: readonly Partial<StreamEntry>[]): void {
    this.tell(Opcode.Video, { audio_ssrc: ssrc, video_ssrc: 0, rtx_ssrc: 0, streams });
  }

  /** What is shown of others; and this. */
  sendWants(wants: Wants): void {
    this.tell(Opcode.MediaSinkWants, wants);
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.reconnectTimer);
    clearTimeout(this.heartbeatTimer);
    const { socket } = this;
    this.socket = null;
    socket?.close(1000);
  }

  private handle({ op, d, seq }: Payload): void {
    this.sequence = seq ?? this.sequence;
    switch (op) {
      case Opcode.Hello:
        this.startHeartbeat((d as { heartbeat_interval: number }).heartbeat_interval);
        this.identifyOrResume();
        break;
      case Opcode.Heartbeat:
        this.beat();
        break;
      case Opcode.HeartbeatAck:
        this.acknowledged = true;
        break;
      case Opcode.Ready:
        this.begun = this.attached = true;
        this.lostAt = 0;
        this.callbacks.onReady(d as Ready);
        break;
      case Opcode.SessionDescription:
        this.attempts = this.fruitless = 0;
        this.callbacks.onDescription(d as SessionDescription);
        break;
      case Opcode.Resumed:
        this.attempts = this.lostAt = 0;
        this.attached = true;
        this.callbacks.onResumed();
        break;
      case Opcode.Speaking:
        this.callbacks.onSpeaking(d as Speaking);
        break;
      case Opcode.Video:
        this.callbacks.onSource(d as Source);
        break;
      case Opcode.MediaSinkWants:
        this.callbacks.onWants(d as Wants);
        break;
      case Opcode.ClientDisconnect:
        this.callbacks.onDisconnect((d as { user_id: string }).user_id);
        break;
      default:
        break;
    }
  }

  private identifyOrResume(): void {
    const { guildId, userId, sessionId, token } = this.identity;
    const session = { server_id: guildId, session_id: sessionId, token };
    if (this.begun) {
      this.send(Opcode.Resume, { ...session, seq_ack: this.sequence });
      return;
    }
    this.sequence = -1;
    this.send(Opcode.Identify, { ...session, user_id: userId, video: true, streams: STREAMS });
  }

  private startHeartbeat(interval: number): void {
    clearTimeout(this.heartbeatTimer);
    this.acknowledged = true;
    const period = Math.min(interval, MAX_HEARTBEAT_MS);
    const next = () => {
      if (!this.acknowledged) {
        this.reconnect();
        return;
      }
      this.beat();
      this.heartbeatTimer = setTimeout(next, period);
    };
    this.heartbeatTimer = setTimeout(next, period * Math.random());
  }

  private beat(): void {
    this.acknowledged = false;
    this.send(Opcode.Heartbeat, { t: Date.now(), seq_ack: this.sequence });
  }

  private handleClose(code: number): void {
    const next = afterClose(code);
    if (next === "stop" || next === "wait" || next === "renew") {
      this.end(next === "stop" ? "refused" : next === "wait" ? "disconnected" : "renew", code);
      return;
    }
    if (next === "identify") {
      this.begun = false;
    }
    this.lose();
    if (!this.begun && (this.fruitless += 1) > MAX_FRUITLESS) {
      this.end("unreachable", code);
      return;
    }
    this.reconnectTimer = setTimeout(() => this.connect(), this.attempts === 0 ? 0 : backoff(this.attempts));
    this.attempts += 1;
  }

  /** Drop the connection; its session is resumed by the next one if that comes soon enough. */
  private lose(): void {
    clearTimeout(this.heartbeatTimer);
    const { socket } = this;
    this.socket = null;
    this.attached = false;
    // Any code but 1000 keeps the session for a resume.
    socket?.close(4000);
    this.lostAt ||= Date.now();
    if (Date.now() - this.lostAt > RESUME_MS) {
      this.begun = false;
    }
    this.callbacks.onLost();
  }

  private end(reason: EndReason, code: number): void {
    this.close();
    this.callbacks.onEnd(reason, code);
  }

  private tell(op: Opcode, data: unknown): void {
    if (this.attached) {
      this.send(op, data);
    }
  }

  private send(op: Opcode, data: unknown): void {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify({ op, d: data }));
    }
  }
}
