// Laws of the package: people, time and faults, with a bot that speaks plain HTTP.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { spawnSync } from "node:child_process";
import { findCommand } from "../dist/finding.js";
import { Moothall, NoReaction, PlatformMissing, RefusedError, TestServer } from "../dist/index.js";

let server, moothall, alice, bob;

before(async () => {
  server = await TestServer.start();
});
after(() => server.close());
beforeEach(async () => {
  moothall = await Moothall.fresh(server);
  alice = moothall.person("alice");
  bob = moothall.person("bob");
});

async function botSays(content) {
  const headers = { authorization: `Bot ${moothall.bot().token}`, "content-type": "application/json" };
  const url = `${server.info.api_url}/channels/${alice.channelId}/messages`;
  return fetch(url, { method: "POST", headers, body: JSON.stringify({ content }) });
}

test("every platform is fresh, with the same ids and tokens", async () => {
  const before = { id: alice.id, token: alice.token };
  await alice.says("hello");
  assert.equal((await alice.messages()).length, 1);

  moothall = await Moothall.fresh(server);

  const again = moothall.person("alice");
  assert.deepEqual({ id: again.id, token: again.token }, before);
  assert.deepEqual(await again.messages(), []);
});

test("people edit, react, upload, reply and delete", async () => {
  const message = await alice.says("typo");
  assert.equal((await alice.edits(message, "fixed")).content, "fixed");
  await bob.reacts(message, "👍").awaitsEvent("MESSAGE_REACTION_ADD");
  assert.equal((await bob.replies(message, "yes")).message_reference.message_id, message.id);
  assert.equal((await bob.uploads("a.txt", new TextEncoder().encode("abc"))).attachments[0].size, 3);
  await alice.deletes(message).awaitsEvent("MESSAGE_DELETE", (data) => data.id === message.id);
});

test("the platform refuses what it refuses", async () => {
  await assert.rejects(async () => bob.request("DELETE", `/channels/${bob.channelId}`), (error) => {
    assert.ok(error instanceof RefusedError);
    assert.deepEqual([error.status, error.code], [403, 50013]);
    return true;
  });
});

test("a wait ends with what came instead", async () => {
  await assert.rejects(async () => alice.says("ping").awaitsReply({ within: 0.3 }), NoReaction);
});

test("time passes without waiting", async () => {
  await alice.request("PATCH", `/channels/${alice.channelId}`, { rate_limit_per_user: 600 });
  await bob.says("one");
  await assert.rejects(async () => bob.says("two"), RefusedError);

  await moothall.advance({ minutes: 11 });

  await bob.says("two");
});

test("faults hit the bot until they are over", async () => {
  await moothall.fails("error", { status: 502, count: null });
  assert.equal((await botSays("lost")).status, 502);
  await alice.says("people are not hit");

  await moothall.calms();

  assert.equal((await botSays("there")).status, 200);
});

test("new people can be members, and communities come from objects", async () => {
  const carol = await moothall.createPerson("carol");
  await carol.says("hello");
  await moothall.load({ people: { zoe: {} }, guilds: [{ name: "Yard", owner: "zoe", channels: [{ name: "gate" }] }] });

  assert.deepEqual(Object.keys(moothall.guild("Yard").channels), ["gate"]);
  assert.equal((await moothall.dump()).guilds.length, 2);
});

test("what a bot had better not do is a warning", async () => {
  const headers = { authorization: `Bot ${moothall.bot().token}` };
  await fetch(`${server.info.api_url}/channels/1`, { method: "DELETE", headers });

  assert.match((await moothall.warnings())[0], /^refused_request: DELETE \/channels\/1/);
  assert.match(await moothall.transcript(), /bot DELETE \/channels\/1 404/);
});

for (const when of ["while it is waited for", "before it is waited for"]) test(`an error of the bot ${when} ends the wait at once`, () => {
  const program = `
    import { Moothall } from "../dist/index.js";
    const moothall = await Moothall.start();
    const luckless = new Promise((resolve) => process.on("uncaughtException", resolve));
    setTimeout(() => { throw new TypeError("no luck"); }, 50);
    if (${when === "before it is waited for"}) await luckless;
    const started = performance.now();
    await moothall.person("alice").says("ping").awaitsReply({ within: 60 }).catch((error) => {
      console.log(error.constructor.name, error.message, performance.now() - started < 10_000);
    });
    await moothall.close();
  `;
  const folder = new URL(".", import.meta.url);
  const ran = spawnSync(process.execPath, ["--input-type=module", "-e", program], { cwd: folder, encoding: "utf8" });

  assert.match(ran.stdout, /TypeError no luck true/, ran.stderr);
});

test("the platform is found by what the environment names, in order", () => {
  assert.deepEqual(findCommand({ MOOTHALL_COMMAND: "'/my tools/python' -m moothall", PATH: "" }), ["/my tools/python", "-m", "moothall"]);
  assert.throws(() => findCommand({ PATH: "" }), PlatformMissing);
});

test("a server that runs already is used, and goes on", async () => {
  process.env["MOOTHALL_TEST_SERVER"] = server.info.url;
  try {
    const other = await TestServer.start();
    await other.close();
  } finally {
    delete process.env["MOOTHALL_TEST_SERVER"];
  }
  assert.equal((await server.control("GET", "/time")).offset, 0);
});
