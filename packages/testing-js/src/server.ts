/** The process of the test server, and its control API. */

import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { findCommand } from "./finding.js";

export interface PersonInfo {
  id: string;
  name: string;
  token: string;
}

export interface BotInfo extends PersonInfo {
  application_id: string;
  public_key: string;
  client_secret: string;
}

export interface GuildInfo {
  id: string;
  name: string;
  owner: string;
  /** Ids of channels by name. */
  channels: Record<string, string>;
  /** Ids of roles by name. */
  roles: Record<string, string>;
}

/** What the server prints when it is ready. */
export interface ServerInfo {
  version: string;
  url: string;
  api_url: string;
  gateway_url: string;
  control_url: string;
  now: string;
  people: Record<string, PersonInfo>;
  bots: Record<string, BotInfo>;
  guilds: GuildInfo[];
}

/** One thing that happened. Which fields are set depends on `kind`. */
export interface Entry {
  number: number;
  at: string;
  kind: "request" | "event" | "dispatch" | "gateway" | "fault" | "clock" | "warning" | "error";
  /** All of it in a line. */
  line: string;
  actor?: string;
  bot?: boolean;
  name?: string;
  method?: string;
  path?: string;
  status?: number;
  text?: string;
  user_ids?: string[];
  data?: any;
  sent?: unknown;
}

export interface ServerOptions {
  /** The community of every test: a JSON or YAML file. */
  fixture?: string;
  /** Milliseconds between heartbeats of gateway clients. */
  heartbeatMs?: number;
  /** How to run Moothall, if not as `findCommand` says. The arguments of `test-server` follow it. */
  command?: string[];
}

/** A request that the platform refused. */
export class RefusedError extends Error {
  constructor(
    readonly method: string,
    readonly path: string,
    readonly status: number,
    readonly body: any,
  ) {
    super(`${method} ${path} was answered with ${status}: ${JSON.stringify(body)}`);
    this.name = "RefusedError";
  }

  /** The error code of the API; 0 where there is none. */
  get code(): number {
    return this.body?.code ?? 0;
  }
}

/** Sends a request and parses its answer. Throws RefusedError. */
export async function send(
  method: string,
  url: string,
  body?: unknown,
  authorization?: string,
  files?: Record<string, Uint8Array>,
): Promise<any> {
  const headers: Record<string, string> = {};
  if (authorization !== undefined) headers["authorization"] = authorization;
  const init: RequestInit = { method, headers };
  if (files !== undefined) {
    const form = new FormData();
    form.set("payload_json", JSON.stringify(body ?? {}));
    Object.entries(files).forEach(([name, content], index) => {
      form.set(`files[${index}]`, new Blob([content]), name);
    });
    init.body = form;
  } else if (body !== undefined) {
    headers["content-type"] = "application/json";
    init.body = JSON.stringify(body);
  }
  const answer = await fetch(url, init);
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") ?? false;
  const parsed: unknown = text === "" ? null : isJson ? JSON.parse(text) : text;
  if (!answer.ok) throw new RefusedError(method, new URL(url).pathname, answer.status, parsed);
  return parsed;
}

/** A test server, until `close`; it ends with this process as well. */
export class TestServer {
  private constructor(
    private readonly process: ChildProcess | undefined,
    /** Addresses, and the people, bots and guilds of its start. */
    readonly info: ServerInfo,
  ) {}

  /** Starts a server and waits until it is ready; or takes the one that MOOTHALL_TEST_SERVER names, which goes on after `close`. */
  static async start(options: ServerOptions = {}): Promise<TestServer> {
    const running = process.env["MOOTHALL_TEST_SERVER"];
    if (running && options.command === undefined) {
      return new TestServer(undefined, await send("GET", `${running.replace(/\/+$/, "")}/_test`));
    }
    const [program, ...first] = options.command ?? findCommand(process.env, options.fixture);
    const args = [...first, "test-server", "--json", "--until-stdin-closes"];
    if (options.fixture !== undefined) args.push("--fixture", options.fixture);
    if (options.heartbeatMs !== undefined) args.push("--heartbeat-ms", String(options.heartbeatMs));
    // Standard input ends with this process, whatever runs between it and the server.
    const child = spawn(program!, args, { stdio: ["pipe", "pipe", "inherit"] });
    const line = await new Promise<string>((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (code) => reject(new Error(`the test server ended with status ${code}`)));
      createInterface({ input: child.stdout! }).once("line", resolve);
    });
    child.removeAllListeners("exit");
    for (const stream of [child, child.stdin, child.stdout] as unknown[]) (stream as { unref?: () => void }).unref?.();
    return new TestServer(child, JSON.parse(line) as ServerInfo);
  }

  /** Ends it. */
  async close(): Promise<void> {
    const child = this.process;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.ref();
    child.kill();
    await ended;
  }

  /** A request of the control API; `GET /_test/openapi.json` describes it. Throws RefusedError. */
  control(method: string, path: string, body?: unknown): Promise<any> {
    return send(method, `${this.info.control_url}${path}`, body);
  }
}

/** What was waited for did not happen in time; the message says what happened instead. */
export class NoReaction extends Error {
  override readonly name = "NoReaction";
}

/** Reads the transcript after a number, as it grows. */
export class Follower {
  readonly seen: Entry[] = [];

  private constructor(
    private readonly server: TestServer,
    private after: number,
  ) {}

  static async start(server: TestServer): Promise<Follower> {
    const page = await server.control("GET", "/transcript?after=1000000000");
    return new Follower(server, page.last);
  }

  /** The first entry that is accepted. Throws NoReaction after `within` seconds, and what a bot of this process throws at once. */
  until(accepts: (entry: Entry) => boolean, within: number, what: string): Promise<Entry> {
    return orFailure(this.follow(accepts, within, what));
  }

  private async follow(accepts: (entry: Entry) => boolean, within: number, what: string): Promise<Entry> {
    const deadline = performance.now() + within * 1000;
    const before = this.seen.find(accepts);
    if (before !== undefined) return before;
    for (;;) {
      const left = (deadline - performance.now()) / 1000;
      if (left <= 0) throw new NoReaction(this.explain(what, within));
      const page = await this.server.control("GET", `/transcript?after=${this.after}&wait=${Math.min(left, 30)}`);
      this.after = page.last;
      this.seen.push(...page.entries);
      const entry = (page.entries as Entry[]).find(accepts);
      if (entry !== undefined) return entry;
    }
  }

  private explain(what: string, within: number): string {
    const lines = this.seen.slice(-15).map((entry) => entry.line);
    const instead = lines.length > 0 ? ["What happened instead:", ...lines] : ["Nothing else happened either."];
    return [`no ${what} within ${within} s.`, ...instead].join("\n");
  }
}

const waiters = new Set<(error: unknown) => void>();
let missed: { error: unknown } | null = null;
let isWatching = false;

/** Watches the errors of this process from now on, for a new test: what came before it is forgotten. */
export function watchErrors(): void {
  missed = null;
  if (isWatching) return;
  isWatching = true;
  // It only watches: what becomes of the error is as ever.
  process.on("uncaughtExceptionMonitor", report);
  process.on("unhandledRejection", (error) => {
    report(error);
    if (process.listenerCount("unhandledRejection") === 1) throw error;
  });
}

/** Ends what waits for the bot, or where nothing does, what waits next. */
function report(error: unknown): void {
  if (waiters.size === 0) missed ??= { error };
  waiters.forEach((fail) => fail(error));
}

/** Waits, and fails as soon as an error of this process is handled by no code, the bot's or another's. */
async function orFailure<T>(waiting: Promise<T>): Promise<T> {
  let fail: (error: unknown) => void = () => undefined;
  const failure = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  failure.catch(() => undefined);
  waiters.add(fail);
  if (missed !== null) {
    fail(missed.error);
    missed = null;
  }
  try {
    return await Promise.race([failure, waiting]);
  } finally {
    waiters.delete(fail);
  }
}
