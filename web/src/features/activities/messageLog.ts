import { Opcode, type Arguments } from "./rpc";

/** A message between an Activity and this client. */
export interface LoggedMessage {
  id: number;
  /** In milliseconds. */
  at: number;
  /** Whether the Activity sent it. */
  received: boolean;
  /** The command or event, or the opcode of a message without one. */
  name: string;
  failed: boolean;
  /** Its data as indented JSON, without secrets. */
  text: string;
}

const MAX_MESSAGES = 500;
const MAX_TEXT = 20_000;
const SECRETS: ReadonlySet<string> = new Set(["access_token", "code", "ticket"]);

/** The latest messages, for developers to read. */
export class MessageLog {
  private messages: readonly LoggedMessage[] = [];
  private readonly listeners = new Set<() => void>();
  private nextId = 1;

  add(message: unknown, received: boolean, at: number): void {
    const [opcode, data] = (Array.isArray(message) ? message : []) as unknown[];
    const fields = (typeof data === "object" && data !== null ? data : {}) as Arguments;
    const failed = fields["evt"] === "ERROR";
    const text = JSON.stringify(data ?? null, withoutSecrets(failed), 2);
    const logged = { id: this.nextId, at, received, name: nameOf(opcode, fields), failed };
    this.nextId += 1;
    this.messages = [...this.messages.slice(1 - MAX_MESSAGES), { ...logged, text: text.slice(0, MAX_TEXT) }];
    this.notify();
  }

  clear(): void {
    this.messages = [];
    this.notify();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly read = (): readonly LoggedMessage[] => this.messages;

  private notify(): void {
    for (const listener of this.listeners) {
      listener();
    }
  }
}

function nameOf(opcode: unknown, fields: Arguments): string {
  const { cmd, evt } = fields;
  if (opcode === Opcode.Handshake) {
    return "HANDSHAKE";
  }
  if (opcode === Opcode.Close) {
    return "CLOSE";
  }
  const names = [cmd, evt].filter((each): each is string => typeof each === "string" && each !== "DISPATCH");
  return names.length === 0 ? String(opcode) : names.join(" ");
}

/** Hides tokens and codes of authorizations; the `code` of an error is a number, and none. */
function withoutSecrets(failed: boolean): (key: string, value: unknown) => unknown {
  return (key, value) => (SECRETS.has(key) && typeof value === "string" && !failed ? "…" : value);
}
