import workerUrl from "./worker?worker&url";
import type {
  Activity,
  Command,
  ConnectionStart,
  ConnectionStatus,
  Presence,
  Status,
  Update,
} from "./protocol";
import { trustedScript } from "./trustedScripts";

export interface ConnectionCallbacks {
  onDispatch: (name: string, data: unknown) => void;
  onStatus: (status: ConnectionStatus) => void;
}

/** The page's side of the gateway: a worker that holds one session. */
export class GatewayConnection {
  private readonly worker: Worker;
  private callbacks: ConnectionCallbacks | null = null;
  /** What the worker has sent before `listen`. */
  private buffered: Update[] = [];

  /** Connect. The session starts with `status`. */
  constructor(
    readonly token: string,
    status: Status,
  ) {
    this.worker = startWorker({ url: gatewayUrl(), token, presence: presenceOf(status, []) });
    this.worker.onmessage = (event: MessageEvent<Update>) => {
      if (this.callbacks === null) {
        this.buffered.push(event.data);
      } else {
        handle(event.data, this.callbacks);
      }
    };
    globalThis.addEventListener("online", this.retry);
    globalThis.addEventListener("offline", this.pause);
  }

  /** Pass on what the worker sends, at once what it has sent already. */
  listen(callbacks: ConnectionCallbacks): void {
    this.callbacks = callbacks;
    const { buffered } = this;
    this.buffered = [];
    for (const update of buffered) {
      handle(update, callbacks);
    }
  }

  send(command: Command): void {
    this.worker.postMessage(command);
  }

  /** Change the presence, which each later session of this connection starts with as well. */
  setPresence(status: Status, activities: Activity[]): void {
    this.send({ type: "presence", data: presenceOf(status, activities) });
  }

  /** Subscribe to ranges of a channel's member list, instead of those subscribed to before. */
  subscribe(guildId: string, channelId: string, ranges: readonly (readonly [number, number])[]): void {
    this.send({ type: "subscribe", data: { guild_id: guildId, channels: { [channelId]: ranges } } });
  }

  /** End the subscription in a guild. */
  unsubscribe(guildId: string): void {
    this.send({ type: "subscribe", data: { guild_id: guildId, channels: {} } });
  }

  close(): void {
    globalThis.removeEventListener("online", this.retry);
    globalThis.removeEventListener("offline", this.pause);
    this.send({ type: "disconnect" });
    // Give the socket a moment for its closing handshake.
    setTimeout(() => this.worker.terminate(), 1000);
  }

  /** Connect at once if the session is waiting to. */
  readonly retry = () => this.send({ type: "retry" });

  private readonly pause = () => this.send({ type: "offline" });
}

function handle(update: Update, callbacks: ConnectionCallbacks): void {
  if (update.type === "dispatch") {
    callbacks.onDispatch(update.name, update.data);
  } else {
    callbacks.onStatus(update.status);
  }
}

function presenceOf(status: Status, activities: Activity[]): Presence {
  return { status, since: null, activities, afk: false };
}

function startWorker(start: ConnectionStart): Worker {
  return new Worker(trustedScript(workerUrl), { type: "module", name: JSON.stringify(start) });
}

function gatewayUrl(): string {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/gateway`;
}
