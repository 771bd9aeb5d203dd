/** Tests of bots against a whole Moothall platform. */

import { Person, type ApiObject, type World } from "./people.js";
import { loadedClock } from "./loaded_clock.js";
import { TestServer, watchErrors, type BotInfo, type Entry, type GuildInfo, type ServerOptions } from "./server.js";

export { Act, Person, buttonsOf, type Identified, type Invocation, type ModalForm, type ReplyOptions } from "./people.js";
export { PlatformMissing } from "./finding.js";
export { NoReaction, RefusedError, TestServer, type BotInfo, type Entry, type GuildInfo, type ServerInfo, type ServerOptions } from "./server.js";

export interface Fault {
  /** `POST /channels/{id}/messages`; `{name}` is any one segment. */
  route?: string;
  /** The name or id of a bot or person; any bot by default. */
  actor?: string;
  /** To how many requests it applies; null until `calms`. */
  count?: number | null;
  /** Of `error`. */
  status?: 500 | 502 | 503 | 504;
  /** `retry_after` of a rate limit, and how long slow answers take. */
  seconds?: number;
  scope?: "user" | "global" | "shared";
}

const MAX_STEPS = 400;

export type GatewayAction = "reconnect" | "invalid_session" | "drop" | "half_open" | "ignore_heartbeats" | "close";

/** A platform, fresh for a test. */
export class Moothall {
  private constructor(private readonly world: World) {}

  /** Restores a server to its start, in milliseconds: the platform of the next test. */
  static async fresh(server: TestServer, snapshot = "start"): Promise<Moothall> {
    watchErrors();
    const moothall = new Moothall({ server, info: await server.control("POST", "/restore", { name: snapshot }) });
    loadedClock()?.reset((await server.control("GET", "/time")).offset);
    return moothall;
  }

  /** Starts a server, and is its first platform. */
  static async start(options: ServerOptions = {}): Promise<Moothall> {
    return Moothall.fresh(await TestServer.start(options));
  }

  get server(): TestServer {
    return this.world.server;
  }

  /** The URL of the server. */
  get url(): string {
    return this.world.info.url;
  }

  /** The options of discord.js's REST client, for `new Client({ rest })`. */
  get discordJs(): { api: string; cdn: string; version: string } {
    return { api: `${this.url}/api`, cdn: this.url, version: "10" };
  }

  /** Ends the server. */
  close(): Promise<void> {
    return this.server.close();
  }

  /** The first guild, or the one with a name. */
  guild(name?: string): GuildInfo {
    const guild = this.world.info.guilds.find((each) => name === undefined || each.name === name);
    if (guild === undefined) throw new Error(`there is no guild ${name ?? ""}`);
    return guild;
  }

  /** A person of the community, in the first channel. */
  person(name: string): Person {
    const person = this.world.info.people[name];
    if (person === undefined) throw new Error(`there is no person ${name}`);
    const guild = this.world.info.guilds[0];
    return new Person(this.world, person, Object.values(guild?.channels ?? {})[0] ?? "", guild);
  }

  /** A bot of the community; the first one by default. */
  bot(name?: string): BotInfo {
    const bots = this.world.info.bots;
    const bot = name === undefined ? Object.values(bots)[0] : bots[name];
    if (bot === undefined) throw new Error(`there is no bot ${name ?? ""}`);
    return bot;
  }

  /** Creates a person, who joins the first guild unless `member` is false. */
  async createPerson(name: string, { member = true } = {}): Promise<Person> {
    await this.server.control("POST", "/people", { name, ...(member && { guild_id: this.guild().id }) });
    this.world.info = await this.server.control("GET", "");
    return this.person(name);
  }

  /** Creates the community of an object beside what is there. */
  async load(community: ApiObject): Promise<void> {
    await this.server.control("POST", "/load", community);
    this.world.info = await this.server.control("GET", "");
  }

  /** The community as an object, which `load` takes. */
  dump(): Promise<ApiObject> {
    return this.server.control("GET", "/dump");
  }

  /**
   * Moves the platform's clock, and that of bots in this process if `@moothall/testing/clock` is loaded; what is due by then
   * has happened when it returns the new time.
   */
  async advance({ seconds = 0, minutes = 0, hours = 0, days = 0 }): Promise<string> {
    const total = seconds + 60 * minutes + 3600 * hours + 86_400 * days;
    const clock = loadedClock();
    for (let left = total; ; ) {
      const due = clock?.untilNextTimer() ?? left;
      const step = Math.min(left, Math.max(due, total / MAX_STEPS));
      left -= step;
      const { now } = await this.server.control("POST", "/time", { seconds: step, total: left <= 0 ? total : 0 });
      await clock?.move(step);
      if (left <= 0) return now;
    }
  }

  /** Lets the bots' next requests fail. */
  async fails(kind: "rate_limit" | "error" | "slow" | "drop" | "hang", fault: Fault = {}): Promise<void> {
    await this.server.control("POST", "/faults", { kind, ...fault });
  }

  /** Sends the next events of a name twice. */
  async duplicates(event: string): Promise<void> {
    await this.server.control("POST", "/faults", { kind: "duplicate_event", event });
  }

  /** Sends the next events of a name late. */
  async delays(event: string, seconds: number): Promise<void> {
    await this.server.control("POST", "/faults", { kind: "late_event", event, seconds });
  }

  /** Lets something happen to open gateway connections. */
  async breaksGateway(action: GatewayAction, options: { actor?: string; resumable?: boolean; code?: number } = {}): Promise<void> {
    await this.server.control("POST", "/gateway", { action, ...options });
  }

  /** Makes the guild unavailable. */
  async beginsOutage(guild: GuildInfo = this.guild()): Promise<void> {
    await this.server.control("POST", "/outages", { guild_id: guild.id });
  }

  /** Makes the guild available again. */
  async endsOutage(guild: GuildInfo = this.guild()): Promise<void> {
    await this.server.control("POST", "/outages/end", { guild_id: guild.id });
  }

  /** Starts random faults, the same for a seed. */
  async roughSeas(seed: number): Promise<void> {
    await this.server.control("POST", "/rough-seas", { seed });
  }

  /** Ends all faults. */
  async calms(): Promise<void> {
    await this.server.control("DELETE", "/faults");
  }

  /** Everything that happened so far, oldest first. */
  async entries(): Promise<Entry[]> {
    return (await this.server.control("GET", "/transcript")).entries;
  }

  /** The same, a line each. */
  async transcript(): Promise<string> {
    return (await this.entries()).map((entry) => entry.line).join("\n");
  }

  /** What a bot had better not do: the warnings so far. */
  async warnings(): Promise<string[]> {
    return (await this.entries()).filter((each) => each.kind === "warning").map((each) => `${each.name}: ${each.text}`);
  }
}
