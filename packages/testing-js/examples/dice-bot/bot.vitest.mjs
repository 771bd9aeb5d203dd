// The same bot with vitest.
import { Events } from "discord.js";
import { expect } from "vitest";
import { NoReaction } from "../../dist/index.js";
import { test } from "../../dist/vitest.js";
import { createBot } from "./bot.mjs";

async function start(moothall) {
  const client = createBot(moothall.discordJs);
  const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(moothall.bot().token);
  await ready;
  return client;
}

test("it answers a ping", async ({ moothall, alice }) => {
  const client = await start(moothall);

  expect((await alice.says("ping").awaitsReply()).content).toBe("pong");
  await client.destroy();
});

test("tea takes five minutes", async ({ moothall, alice }) => {
  const client = await start(moothall);
  await alice.says("tea").awaitsReaction("⏳");

  await moothall.advance({ minutes: 6 });

  expect((await alice.messages()).at(-1).content).toBe("Your tea is ready.");
  await client.destroy();
});

test("a wait that fails tells what came instead", async ({ moothall, alice }) => {
  const client = await start(moothall);
  const waiting = alice.says("ping").awaitsReply({ content: "ding", within: 0.5 });

  await expect(waiting).rejects.toThrow(NoReaction);
  await expect(waiting).rejects.toThrow(/MESSAGE_CREATE 'pong'/);
  await client.destroy();
});
