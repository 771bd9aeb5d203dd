import type { StreamEntry } from "./media";

/** Opcodes of the voice gateway, version 8. */
export const enum Opcode {
  Identify = 0,
  SelectProtocol = 1,
  Ready = 2,
  Heartbeat = 3,
  SessionDescription = 4,
  Speaking = 5,
  HeartbeatAck = 6,
  Resume = 7,
  Hello = 8,
  Resumed = 9,
  ClientsConnect = 11,
  Video = 12,
  ClientDisconnect = 13,
  MediaSinkWants = 15,
}

/** A message in either direction. Those that are sent again after a resume have a number. */
export interface Payload {
  op: Opcode;
  d: unknown;
  seq?: number;
}

/** Who is in which voice channel with which gateway session, and the token of it. */
export interface VoiceIdentity {
  guildId: string;
  channelId: string;
  userId: string;
  sessionId: string;
  token: string;
}

export interface Ready {
  ssrc: number;
  /** Those that were asked for, with the SSRCs that others know them by. */
  streams: readonly StreamEntry[];
}

/** A quality from 0 to 100 by SSRC; `any` is that of the others. */
export type Wants = Readonly<Record<string, number>>;

export interface SessionDescription {
  audio_codec: string;
  /** Lines of a session description: address, keys and fingerprint of the server. */
  sdp: string;
}

/** `speaking` is a set of bits: 1 for a microphone. */
export interface Speaking {
  user_id: string;
  ssrc: number;
  speaking: number;
}

/** Which SSRC a user's sound has. */
export interface Source {
  user_id: string;
  audio_ssrc: number;
  /** What they send beside their microphone. */
  streams: readonly StreamEntry[];
}

/** What a client does once the server has closed its connection. */
export type AfterClose =
  /** Connect again and go on with the session. */
  | "resume"
  /** Connect again and begin a new session with the same token. */
  | "identify"
  /** Ask the gateway for a new token. */
  | "renew"
  /** Nothing: the gateway's events say what has become of the user. */
  | "wait"
  /** Nothing: it would be refused again. */
  | "stop";

const AFTER_CLOSE: Readonly<Record<number, AfterClose>> = {
  // What the server calls a mistake of the client is one of this program, or of a server of another version.
  4001: "stop",
  4002: "stop",
  4003: "stop",
  4005: "stop",
  4012: "stop",
  4016: "stop",
  4020: "stop",
  4021: "stop",
  // The channel demands end-to-end encryption, which this client does not have.
  4017: "stop",
  // The token is not valid, or its server is gone.
  4004: "renew",
  4011: "renew",
  // The session is not valid any more, or had a timeout.
  4006: "identify",
  4009: "identify",
  // Disconnected or moved; the call has ended.
  4014: "wait",
  4022: "wait",
  4015: "resume",
};

/** What follows a close code. Codes of the WebSocket itself, as after a lost network, allow to resume. */
export function afterClose(code: number): AfterClose {
  return AFTER_CLOSE[code] ?? "resume";
}
