/**
 * The clock of a bot in this process: its timers and `Date`, which `Moothall.advance` moves.
 *
 * Load it before the bot: `node --import @moothall/testing/clock --test`, or `setupFiles` of vitest. Timers that measure
 * connections (those of undici, ws, and the gateways and REST clients of libraries) keep real time.
 */

import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import { loadedClock, setLoadedClock, type Clock } from "./loaded_clock.js";

const CONNECTIONS = /node_modules\/(?:@discordjs\/(?:ws|rest)|undici|ws|oceanic\.js\/dist\/lib\/gateway|eris\/lib\/gateway)\//;
const MAX_DELAY = 2 ** 31 - 1;
const IDLE_MS = 15;
const MAX_SETTLING_MS = 2000;

const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  Date: globalThis.Date,
  now: globalThis.Date.now,
};

let offset = 0;
let fired = 0;
const waiting = new Set<BotTimer>();

/** A timer that follows the clock, with the methods of Node's own. */
class BotTimer {
  private handle: NodeJS.Timeout | undefined;
  private isRef = true;
  due = 0;

  constructor(
    private readonly callback: (...args: any[]) => void,
    private readonly delay: number,
    private readonly args: unknown[],
    private readonly repeats: boolean,
  ) {
    this.refresh();
  }

  refresh(): this {
    this.due = now() + this.delay;
    waiting.add(this);
    this.arm();
    return this;
  }

  /** Waits, in real time, for what is left. */
  arm(): void {
    real.clearTimeout(this.handle);
    this.handle = real.setTimeout(() => this.run(), Math.min(Math.max(0, this.due - now()), MAX_DELAY));
    if (!this.isRef) this.handle.unref();
  }

  run(): void {
    if (!waiting.has(this)) return;
    if (this.due > now()) return this.arm();
    fired += 1;
    if (this.repeats) this.refresh();
    else this.close();
    this.callback(...this.args);
  }

  close(): this {
    waiting.delete(this);
    real.clearTimeout(this.handle);
    return this;
  }

  ref(): this {
    this.isRef = true;
    this.handle?.ref();
    return this;
  }

  unref(): this {
    this.isRef = false;
    this.handle?.unref();
    return this;
  }

  hasRef(): boolean {
    return this.isRef;
  }

  [Symbol.dispose ?? Symbol.for("dispose")](): void {
    this.close();
  }
}

function now(): number {
  return real.now() + offset;
}

function isOfConnection(): boolean {
  return CONNECTIONS.test(new Error().stack ?? "");
}

function start(repeats: boolean, original: (...args: any[]) => any) {
  return (callback: (...args: any[]) => void, delay = 1, ...args: unknown[]): unknown =>
    isOfConnection() ? original(callback, delay, ...args) : new BotTimer(callback, Math.max(1, Number(delay) || 1), args, repeats);
}

function clear(timer: unknown): void {
  if (timer instanceof BotTimer) timer.close();
  else real.clearTimeout(timer as NodeJS.Timeout);
}

function sleep(delay?: number, value?: unknown, options: { signal?: AbortSignal; ref?: boolean } = {}): Promise<unknown> {
  return new Promise((resolve, reject) => {
    options.signal?.throwIfAborted();
    const timer = patched.setTimeout(() => resolve(value), delay) as BotTimer;
    if (options.ref === false) timer.unref();
    options.signal?.addEventListener("abort", () => {
      clear(timer);
      reject(options.signal?.reason);
    });
  });
}

const patched = {
  setTimeout: start(false, real.setTimeout),
  setInterval: start(true, real.setInterval),
  clearTimeout: clear,
  clearInterval: clear,
};

/** `Date`, whose present is that of the clock. */
const BotDate = new Proxy(real.Date, {
  construct: (target, args, newTarget) => Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget),
  apply: (target) => new target(now()).toString(),
});

function install(): void {
  Object.assign(globalThis, patched);
  Object.assign(timers, patched);
  timersPromises.setTimeout = sleep as typeof timersPromises.setTimeout;
  syncBuiltinESMExports();
  real.Date.now = now;
  globalThis.Date = BotDate;
}

const clock: Clock = {
  reset(seconds) {
    offset = seconds * 1000;
    for (const timer of waiting) timer.arm();
  },
  untilNextTimer() {
    const dues = [...waiting].map((timer) => timer.due);
    return dues.length === 0 ? undefined : Math.max(0, Math.min(...dues) - now()) / 1000;
  },
  async move(seconds) {
    offset += seconds * 1000;
    const before = fired;
    for (const timer of [...waiting].sort((one, other) => one.due - other.due)) {
      if (timer.due <= now()) timer.run();
      else timer.arm();
    }
    const deadline = real.now() + MAX_SETTLING_MS;
    for (let last = before; fired !== last && real.now() < deadline; ) {
      last = fired;
      await new Promise((resolve) => real.setTimeout(resolve, IDLE_MS));
    }
  },
};

if (loadedClock() === undefined) {
  install();
  setLoadedClock(clock);
}
