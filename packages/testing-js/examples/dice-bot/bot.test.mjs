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

test("a game without players ends after three minutes", async () => {
  await alice.runs("game").awaitsReply();
  await moothall.advance({ seconds: 170 });
  assert.equal((await alice.messages()).length, 1);

  await moothall.advance({ seconds: 15 });

  assert.equal((await alice.messages()).at(-1).content, "No game.");
});

test("what the bot does later happens when the clock moves, on the same connection", async () => {
  await alice.says("tea").awaitsReaction("⏳");
  const before = Date.now();

  await moothall.advance({ hours: 1 });

  assert.ok(Date.now() - before >= 3_600_000);
  assert.ok(new Date().getTime() - before >= 3_600_000);
  assert.equal((await alice.messages()).at(-1).content, "Your tea is ready.");
  assert.deepEqual(await connections(), ["IDENTIFY"]);
});

test("discord.js waits for a rate limit, and sends again", async () => {
  await moothall.fails("rate_limit", { route: "POST /channels/{id}/messages", seconds: 0.6 });
  const started = performance.now();

  await alice.says("ping").awaitsReply({ content: "pong" });

  assert.ok(performance.now() - started >= 600);
});

test("discord.js waits for a limit that it shares with others", async () => {
  const answers = [];
  client.rest.on("response", (_request, response) => answers.push(response.status));
  await moothall.fails("rate_limit", { route: "POST /channels/{id}/messages", seconds: 0.6, scope: "shared" });
  const started = performance.now();

  await alice.says("ping").awaitsReply({ content: "pong" });

  assert.ok(performance.now() - started >= 600);
  // The answer to an earlier message may come in between.
  assert.ok(answers.includes(429), `answers: ${answers}`);
});

test("discord.js sends again after errors, and after an answer that does not come", async () => {
  for (const status of [500, 502, 503]) await moothall.fails("error", { route: "POST /channels/{id}/messages", status });
  await alice.says("ping").awaitsReply({ content: "pong", within: 20 });
  client.rest.options.timeout = 700;
  await moothall.fails("hang", { route: "POST /channels/{id}/messages" });

  await alice.says("ping").awaitsReply({ content: "pong", within: 20 });
});

test("discord.js resumes when told to, and begins anew when its session ends", async () => {
  await moothall.breaksGateway("reconnect");
  await connectedAgain("RESUME");
  await moothall.breaksGateway("invalid_session");
  await connectedAgain("IDENTIFY");

  await alice.says("ping").awaitsReply({ content: "pong", within: 20 });
});

/** The names of what the bot's connections met, in order. */
async function connections() {
  return (await moothall.entries()).filter((each) => each.kind === "gateway" && each.bot).map((each) => each.name);
}

/** Waits until the last that the bot has sent to connect is a RESUME, or a second IDENTIFY. */
async function connectedAgain(how) {
  const deadline = Date.now() + 20_000;
  for (let names = []; names.length < 2 || names.at(-1) !== how; names = await connections()) {
    assert.ok(Date.now() < deadline, names.join());
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

test("discord.js resumes after a lost connection", async () => {
  await moothall.breaksGateway("drop");

  await alice.says("ping").awaitsReply({ content: "pong", within: 20 });

  assert.deepEqual(await connections(), ["IDENTIFY", "DISCONNECTED", "RESUME"]);
});
