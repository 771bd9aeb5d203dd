/** Fixtures for vitest: a server for each worker, a platform for each test, and the transcript of tests that fail. */

import { onTestFailed, test as base, type TestAPI } from "vitest";
import { Moothall, TestServer, type Person } from "./index.js";

let server: TestServer | undefined;

export interface Fixtures {
  moothall: Moothall;
  alice: Person;
  bob: Person;
}

/** `test` with `moothall`, `alice` and `bob`. A test that fails prints what happened. */
export const test: TestAPI<Fixtures> = base.extend<Fixtures>({
  moothall: async ({}, use) => {
    server ??= await TestServer.start();
    const moothall = await Moothall.fresh(server);
    onTestFailed(async () => console.error(`Moothall transcript\n${await moothall.transcript()}`));
    await use(moothall);
  },
  alice: async ({ moothall }, use) => use(moothall.person("alice")),
  bob: async ({ moothall }, use) => use(moothall.person("bob")),
});
