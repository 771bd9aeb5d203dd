// Playwright's driver loads this before itself. It looks for an element five times in the first 270 ms and then twice a
// second, so that whatever opens a moment later costs a test half a second in which nothing happens. Look more often.
const EVERY_MS = 50;
const wait = globalThis.setTimeout;
globalThis.setTimeout = (callback, delay, ...rest) => wait(callback, delay === 500 ? EVERY_MS : delay, ...rest);
