// The same bot with vitest.
import { Events } from "discord.js";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Moothall, NoReaction, TestServer } from "../../dist/index.js";
import { createBot } from "./bot.mjs";

let server, moothall, alice;

beforeAll(async () => {
  server = await TestServer.start();
}, 60_000);
afterAll(() => server.close());

beforeEach(async () => {
  moothall = await Moothall.fresh(server);
  alice = moothall.person("alice");
  const client = createBot(moothall.discordJs);
  const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(moothall.bot().token);
  await ready;
  return () => client.destroy();
});

test("it answers a ping", async () => {
  const reply = await alice.says("ping").awaitsReply();

  expect(reply.content).toBe("pong");
});

test("a wait that fails tells what came instead", async () => {
  const waiting = alice.says("ping").awaitsReply({ content: "ding", within: 500 });

  await expect(waiting).rejects.toThrow(NoReaction);
  await expect(waiting).rejects.toThrow(/MESSAGE_CREATE pong/);
});
