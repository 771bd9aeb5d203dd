// Tests of the dice bot with node:test.
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, test } from "node:test";
import { Events } from "discord.js";
import { buttonsOf, Moothall, TestServer } from "../../dist/index.js";
import { createBot } from "./bot.mjs";

let server, moothall, alice, bob, client;

before(async () => {
  server = await TestServer.start();
});
after(() => server.close());

beforeEach(async () => {
  moothall = await Moothall.fresh(server);
  alice = moothall.person("alice");
  bob = moothall.person("bob");
  client = createBot(moothall.discordJs);
  const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(moothall.bot().token);
  await ready;
  const deadline = Date.now() + 10_000;
  while ((await client.application.commands.fetch()).size < 2) assert.ok(Date.now() < deadline);
});
afterEach(() => client.destroy());

test("it answers a ping", async () => {
  const reply = await alice.inChannel("general").says("ping").awaitsReply({ from: moothall.bot() });

  assert.equal(reply.content, "pong");
});

test("a die is rolled", async () => {
  const reply = await alice.runs("roll", { sides: 2 }).awaitsReply();

  assert.match(reply.content, /^You rolled a [12] of 2\.$/);
});

test("two players make a game", async () => {
  const question = await alice.runs("game").awaitsReply();
  assert.deepEqual(buttonsOf(question), ["Play"]);

  assert.equal((await alice.clicks(question, "Play").awaitsEdit(question)).content, "Players: alice");
  const start = await bob.clicks(question, "Play").awaitsEvent("MESSAGE_CREATE");

  assert.equal(start.content, "alice and bob play.");
});

test("discord.js waits for a rate limit, and sends again", async () => {
  await moothall.fails("rate_limit", { route: "POST /channels/{id}/messages", seconds: 0.6 });
  const started = performance.now();

  await alice.says("ping").awaitsReply({ content: "pong" });

  assert.ok(performance.now() - started >= 600);
});

test("discord.js resumes after a lost connection", async () => {
  await moothall.breaksGateway("drop");

  await alice.says("ping").awaitsReply({ content: "pong", within: 20_000 });

  const entries = (await moothall.entries()).filter((each) => each.kind === "gateway" && each.bot);
  assert.deepEqual(entries.map((each) => each.name), ["IDENTIFY", "DISCONNECTED", "RESUME"]);
});
