/** The protocol between an Activity and this client: messages of two elements, an opcode and its data. */

import { originalMessage } from "../../api/errors";

export const Opcode = { Handshake: 0, Frame: 1, Close: 2, Hello: 3 } as const;

export const CloseCode = {
  Normal: 1000,
  InvalidClientId: 4000,
  InvalidOrigin: 4001,
  RateLimited: 4002,
  TokenRevoked: 4003,
  InvalidVersion: 4004,
  InvalidEncoding: 4005,
} as const;

export const ErrorCode = {
  UnknownError: 1000,
  ServiceUnavailable: 1001,
  TransactionAborted: 1002,
  InvalidPayload: 4000,
  InvalidCommand: 4002,
  InvalidEvent: 4004,
  InvalidChannel: 4005,
  InvalidPermissions: 4006,
  InvalidClientId: 4007,
  InvalidToken: 4009,
  InvalidUser: 4010,
  OAuth2Error: 5000,
  PurchaseError: 5008,
} as const;

export type Message = readonly [opcode: number, data: unknown];
export type Arguments = Readonly<Record<string, unknown>>;

/** An error that the Activity receives with its public code. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** What a command or an event needs: null for anyone, else an authenticated connection with all these scopes. */
export type Needs = readonly string[] | null;

export interface Command {
  needs: Needs;
  run: (args: Arguments) => unknown;
}

export interface Rules {
  clientId: string;
  frameId: string;
  commands: Readonly<Record<string, Command>>;
  /** What each event needs that an Activity can subscribe to. */
  events: Readonly<Record<string, Needs>>;
  /** The data of READY. */
  ready: () => unknown;
  /** The data of an event that an Activity receives as soon as it subscribes; undefined for none. */
  initial: (event: string) => unknown;
  post: (message: Message) => void;
  /** The Activity has closed the connection, or this client has. */
  onClose: (code: number, message: string) => void;
  now: () => number;
}

const WINDOW_MS = 10_000;
const MAX_FRAMES = 600;
/** Commands of the console that are dropped rather than counted. */
const UNCOUNTED = "CAPTURE_LOG";

/** One connection of an Activity, from its handshake on. It answers every command, in any order. */
export class RpcConnection {
  private state: "new" | "ready" | "closed" = "new";
  private scopes: ReadonlySet<string> | null = null;
  private readonly subscriptions = new Set<string>();
  private windowStart = 0;
  private frames = 0;

  constructor(private readonly rules: Rules) {}

  /** Handle a message, whose origin and source the caller has checked. */
  receive(message: unknown): void {
    if (this.state === "closed" || !Array.isArray(message)) {
      return;
    }
    const [opcode, data] = message as unknown[];
    const fields = (typeof data === "object" && data !== null ? data : {}) as Arguments;
    if (opcode === Opcode.Handshake) {
      this.shakeHands(fields);
    } else if (opcode === Opcode.Close) {
      this.state = "closed";
      this.rules.onClose(Number(fields["code"] ?? CloseCode.Normal), text(fields["message"]));
    } else if (opcode === Opcode.Frame && this.state === "ready") {
      void this.answer(fields);
    }
  }

  /** Grant the scopes of an access token. */
  authenticate(scopes: readonly string[]): void {
    this.scopes = new Set(scopes);
  }

  /** Dispatch an event if the Activity has subscribed to it. */
  emit(event: string, data: unknown): void {
    if (this.state === "ready" && this.subscriptions.has(event)) {
      this.dispatch(event, data);
    }
  }

  close(code: number, message: string): void {
    if (this.state !== "closed") {
      this.state = "closed";
      this.rules.post([Opcode.Close, { code, message }]);
      this.rules.onClose(code, message);
    }
  }

  private shakeHands(fields: Arguments): void {
    if (fields["frame_id"] !== this.rules.frameId) {
      return; // of another frame, or of another application
    }
    if (fields["v"] !== 1) {
      this.close(CloseCode.InvalidVersion, "Invalid version");
    } else if ((fields["encoding"] ?? "json") !== "json") {
      this.close(CloseCode.InvalidEncoding, "Invalid encoding");
    } else if (fields["client_id"] !== this.rules.clientId) {
      this.close(CloseCode.InvalidClientId, "Invalid client id");
    } else {
      this.state = "ready";
      this.scopes = null;
      this.subscriptions.clear();
      this.dispatch("READY", this.rules.ready());
    }
  }

  private async answer(frame: Arguments): Promise<void> {
    const cmd = text(frame["cmd"]);
    const nonce = frame["nonce"] ?? null;
    if (cmd !== UNCOUNTED && this.exceedsRate()) {
      this.close(CloseCode.RateLimited, "Rate limited");
      return;
    }
    let answer: Record<string, unknown>;
    try {
      answer = { cmd, data: (await this.run(cmd, frame)) ?? null, evt: null, nonce };
    } catch (error) {
      const code = error instanceof RpcError ? error.code : ErrorCode.UnknownError;
      answer = {
        cmd,
        data: { code, message: originalMessage(error) ?? "" },
        evt: "ERROR",
        nonce,
      };
    }
    if (!this.isClosed()) {
      this.rules.post([Opcode.Frame, answer]);
    }
  }

  private async run(cmd: string, frame: Arguments): Promise<unknown> {
    const args = (
      typeof frame["args"] === "object" && frame["args"] !== null ? frame["args"] : {}
    ) as Arguments;
    if (cmd === "SUBSCRIBE" || cmd === "UNSUBSCRIBE") {
      return this.subscribe(cmd === "SUBSCRIBE", text(frame["evt"]));
    }
    const command = Object.hasOwn(this.rules.commands, cmd) ? this.rules.commands[cmd] : undefined;
    if (command === undefined) {
      throw new RpcError(ErrorCode.InvalidCommand, `Invalid command: ${cmd}`);
    }
    this.require(command.needs, cmd);
    return await command.run(args);
  }

  private subscribe(adds: boolean, event: string): unknown {
    const needs = Object.hasOwn(this.rules.events, event) ? this.rules.events[event] : undefined;
    if (needs === undefined) {
      throw new RpcError(ErrorCode.InvalidEvent, `Invalid event: ${event}`);
    }
    this.require(needs, event);
    if (!adds) {
      this.subscriptions.delete(event);
      return { evt: event };
    }
    this.subscriptions.add(event);
    const initial = this.rules.initial(event);
    if (initial !== undefined) {
      // After the answer, which the Activity waits for.
      setTimeout(() => this.emit(event, initial));
    }
    return { evt: event };
  }

  private require(needs: Needs, name: string): void {
    if (needs !== null && (this.scopes === null || needs.some((scope) => this.scopes?.has(scope) !== true))) {
      throw new RpcError(ErrorCode.InvalidPermissions, `Not authenticated or invalid scope for ${name}`);
    }
  }

  private dispatch(event: string, data: unknown): void {
    this.rules.post([Opcode.Frame, { cmd: "DISPATCH", data, evt: event, nonce: null }]);
  }

  private exceedsRate(): boolean {
    const now = this.rules.now();
    if (now - this.windowStart > WINDOW_MS) {
      this.windowStart = now;
      this.frames = 0;
    }
    this.frames += 1;
    return this.frames > MAX_FRAMES;
  }

  private isClosed(): boolean {
    return this.state === "closed";
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
