import workerUrl from "./worker?worker&url";
import type { Activity, Command, ConnectionStatus, Status, Update } from "./protocol";
import { trustedScript } from "./trustedScripts";

export interface ConnectionCallbacks {
  onDispatch: (name: string, data: unknown) => void;
  onStatus: (status: ConnectionStatus) => void;
}

/** The page's side of the gateway: a worker that holds one session. */
export class GatewayConnection {
  private readonly worker = startWorker();

  constructor(token: string, callbacks: ConnectionCallbacks) {
    this.worker.onmessage = (event: MessageEvent<Update>) => {
      const update = event.data;
      if (update.type === "dispatch") {
        callbacks.onDispatch(update.name, update.data);
      } else {
        callbacks.onStatus(update.status);
      }
    };
    this.send({ type: "connect", url: gatewayUrl(), token });
    globalThis.addEventListener("online", this.retry);
  }

  send(command: Command): void {
    this.worker.postMessage(command);
  }

  /** Change the presence, which each later session of this connection starts with as well. */
  setPresence(status: Status, activities: Activity[]): void {
    this.send({
      type: "presence",
      data: { status, since: null, activities, afk: false },
    });
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
    this.send({ type: "disconnect" });
    // Give the socket a moment for its closing handshake.
    setTimeout(() => this.worker.terminate(), 1000);
  }

  /** Connect at once if the session is waiting to. */
  readonly retry = () => this.send({ type: "retry" });
}

function startWorker(): Worker {
  return new Worker(trustedScript(workerUrl), { type: "module", name: "gateway" });
}

function gatewayUrl(): string {
  return `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/gateway`;
}
