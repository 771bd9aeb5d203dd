import { ZlibStream } from "./inflate";
import type {
  ChannelInfoRequest,
  ConnectionStart,
  ConnectionStatus,
  MemberSubscription,
  Presence,
  SoundsRequest,
  VoiceUpdate,
} from "./protocol";

const enum Opcode {
  Dispatch = 0,
  Heartbeat = 1,
  Identify = 2,
  PresenceUpdate = 3,
  VoiceStateUpdate = 4,
  Resume = 6,
  Reconnect = 7,
  InvalidSession = 9,
  Hello = 10,
  HeartbeatAck = 11,
  GuildSubscriptions = 14,
  RequestSoundboardSounds = 31,
  RequestChannelInfo = 43,
}

/** All intents: a user's client receives everything that the user may see. */
const INTENTS = 53_608_447;
const AUTHENTICATION_FAILED = 4004;
const FIRST_DELAY = 500;
const MAX_DELAY = 30_000;

interface Payload {
  op: Opcode;
  d: unknown;
  s: number | null;
  t: string | null;
}

export interface SessionCallbacks {
  onDispatch: (name: string, data: unknown) => void;
  onStatus: (status: ConnectionStatus) => void;
}

/** A gateway session that reconnects and resumes by itself until it is closed or its token is refused. */
export class Session {
  private socket: WebSocket | null = null;
  private sessionId: string | null = null;
  private resumeUrl: string | null = null;
  private sequence: number | null = null;
  private heartbeatTimer: ReturnType<typeof setTimeout> | undefined;
  private reconnectTimer: ReturnType<typeof setTimeout> | undefined;
  private acknowledged = true;
  private attempts = 0;
  private closed = false;
  private readonly url: string;
  private readonly token: string;
  private presence: Presence;
  private subscription: MemberSubscription | null = null;

  constructor(
    start: ConnectionStart,
    private readonly callbacks: SessionCallbacks,
  ) {
    this.url = start.url;
    this.token = start.token;
    this.presence = start.presence;
  }

  /** Open the connection, or open it again at once if the session is waiting to reconnect. */
  connect(): void {
    if (this.closed || this.socket !== null) {
      return;
    }
    clearTimeout(this.reconnectTimer);
    this.callbacks.onStatus("connecting");
    const stream = new ZlibStream();
    const base = this.sessionId === null ? this.url : (this.resumeUrl ?? this.url);
    const socket = new WebSocket(`${base}?v=10&encoding=json&compress=zlib-stream`);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onmessage = (event: MessageEvent<ArrayBuffer | string>) => {
      const text = typeof event.data === "string" ? event.data : stream.push(new Uint8Array(event.data));
      if (text !== null) {
        this.handle(JSON.parse(text) as Payload);
      }
    };
    socket.onclose = (event) => {
      if (this.socket === socket) {
        this.handleClose(event.code);
      }
    };
  }

  /**
   * Give up the connection, which the network has lost, and resume later. Otherwise only a heartbeat without an answer
   * would tell: until then the page would wait for messages that cannot come.
   */
  waitForNetwork(): void {
    if (!this.closed && this.socket !== null) {
      this.reconnect(backoff(this.attempts));
    }
  }

  /** End the session. */
  close(): void {
    this.closed = true;
    clearTimeout(this.reconnectTimer);
    clearTimeout(this.heartbeatTimer);
    const socket = this.socket;
    this.socket = null;
    socket?.close(1000);
  }

  updatePresence(presence: Presence): void {
    this.presence = presence;
    this.send(Opcode.PresenceUpdate, presence);
  }

  /** Subscribe to member lists in one guild, also in later sessions, and end the subscription in the one before. */
  subscribe(subscription: MemberSubscription): void {
    const before = this.subscription;
    this.subscription = subscription;
    if (before !== null && before.guild_id !== subscription.guild_id) {
      this.send(Opcode.GuildSubscriptions, { guild_id: before.guild_id, channels: {} });
    }
    this.send(Opcode.GuildSubscriptions, subscription);
  }

  updateVoiceState(update: VoiceUpdate): void {
    this.send(Opcode.VoiceStateUpdate, update);
  }

  requestSounds(request: SoundsRequest): void {
    this.send(Opcode.RequestSoundboardSounds, request);
  }

  requestChannelInfo(request: ChannelInfoRequest): void {
    this.send(Opcode.RequestChannelInfo, request);
  }

  private handle(payload: Payload): void {
    switch (payload.op) {
      case Opcode.Hello:
        this.startHeartbeat((payload.d as { heartbeat_interval: number }).heartbeat_interval);
        this.identifyOrResume();
        break;
      case Opcode.Heartbeat:
        this.send(Opcode.Heartbeat, this.sequence);
        break;
      case Opcode.HeartbeatAck:
        this.acknowledged = true;
        break;
      case Opcode.Reconnect:
        this.reconnect(0);
        break;
      case Opcode.InvalidSession:
        if (payload.d !== true) {
          this.forgetSession();
        }
        this.reconnect(1000 + Math.random() * 2000);
        break;
      case Opcode.Dispatch:
        this.handleDispatch(payload);
        break;
      default:
        break;
    }
  }

  private handleDispatch(payload: Payload): void {
    this.sequence = payload.s;
    const name = payload.t ?? "";
    if (name === "READY") {
      const ready = payload.d as { session_id: string; resume_gateway_url: string };
      this.sessionId = ready.session_id;
      this.resumeUrl = ready.resume_gateway_url;
    }
    this.callbacks.onDispatch(name, payload.d);
    if (name === "GUILD_CREATE" && (payload.d as { id: string }).id === this.subscription?.guild_id) {
      // A session can subscribe once it has the guild; a resumed one is subscribed still.
      this.send(Opcode.GuildSubscriptions, this.subscription);
    }
    if (name === "READY" || name === "RESUMED") {
      this.attempts = 0;
      this.callbacks.onStatus("connected");
    }
  }

  private identifyOrResume(): void {
    if (this.sessionId !== null && this.sequence !== null) {
      this.send(Opcode.Resume, { token: this.token, session_id: this.sessionId, seq: this.sequence });
      return;
    }
    this.send(Opcode.Identify, {
      token: this.token,
      intents: INTENTS,
      properties: { os: "web", browser: "Moothall", device: "" },
      presence: this.presence,
    });
  }

  private startHeartbeat(interval: number): void {
    clearTimeout(this.heartbeatTimer);
    this.acknowledged = true;
    const beat = () => {
      if (!this.acknowledged) {
        this.reconnect(0);
        return;
      }
      this.acknowledged = false;
      this.send(Opcode.Heartbeat, this.sequence);
      this.heartbeatTimer = setTimeout(beat, interval);
    };
    this.heartbeatTimer = setTimeout(beat, interval * Math.random());
  }

  private handleClose(code: number): void {
    if (code === AUTHENTICATION_FAILED) {
      this.close();
      this.callbacks.onStatus("closed");
      return;
    }
    // These codes end the session; after others it can be resumed.
    if (code === 1000 || code === 1001 || code === 4007 || code === 4009) {
      this.forgetSession();
    }
    this.reconnect(backoff(this.attempts));
  }

  private reconnect(delay: number): void {
    clearTimeout(this.heartbeatTimer);
    clearTimeout(this.reconnectTimer);
    const socket = this.socket;
    this.socket = null;
    // Any code but 1000 and 1001 keeps the session for a resume.
    socket?.close(4000);
    if (this.closed) {
      return;
    }
    this.attempts += 1;
    this.callbacks.onStatus(delay > 0 ? "waiting" : "connecting");
    this.reconnectTimer = setTimeout(() => this.connect(), delay);
  }

  private forgetSession(): void {
    this.sessionId = null;
    this.resumeUrl = null;
    this.sequence = null;
  }

  private send(op: Opcode, data: unknown): void {
    if (this.socket?.readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify({ op, d: data }));
    }
  }
}

/** Milliseconds before the next attempt: doubled with each one, and random by half. */
export function backoff(attempts: number): number {
  return Math.min(FIRST_DELAY * 2 ** attempts, MAX_DELAY) * (0.5 + Math.random() / 2);
}
