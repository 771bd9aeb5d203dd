// What discordeno does on a live server.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { createBot, GatewayIntents } from "@discordeno/bot";

import { BOT_TOKEN, CHANNEL_ID, GUILD_ID, MOOTHALL_URL, messageOf, person, useCommand, useComponent } from "./person.mjs";

const heard = [];
let onInteraction = async () => {};
const quiet = { debug() {}, info() {}, warn() {}, error: console.error, fatal: console.error };
const wanted = (...names) => Object.fromEntries(names.map((name) => [name, true]));
const bot = createBot({
  token: BOT_TOKEN,
  intents: GatewayIntents.Guilds | GatewayIntents.GuildMessages | GatewayIntents.MessageContent,
  rest: { token: BOT_TOKEN, proxy: { baseUrl: `${MOOTHALL_URL}/api`, authorization: `Bot ${BOT_TOKEN}` } },
  loggerFactory: () => quiet,
  desiredProperties: {
    message: wanted("id", "content", "channelId", "attachments"),
    attachment: wanted("id", "filename"),
    interaction: wanted("id", "type", "data", "token"),
  },
  events: {
    ready: () => heard.push("ready"),
    messageCreate: (message) => heard.push(message.content),
    interactionCreate: (interaction) => onInteraction(interaction),
  },
});

async function until(check) {
  for (let tries = 0; tries < 200 && !check(); tries += 1) await new Promise((resolve) => setTimeout(resolve, 50));
  assert.ok(check());
}

before(async () => {
  await bot.start();
  await until(() => heard.includes("ready"));
});

// shutdown leaves timers behind that keep the process alive.
after(async () => {
  await bot.shutdown();
  setTimeout(() => process.exit(), 500);
});

test("a message is sent with files, heard and edited", async () => {
  const files = [{ blob: new Blob(["a"]), name: "a.txt" }, { blob: new Blob(["b"]), name: "b.txt" }];
  const sent = await bot.helpers.sendMessage(CHANNEL_ID, { content: "files", files });
  assert.deepEqual(sent.attachments.map((each) => each.filename), ["a.txt", "b.txt"]);
  await until(() => heard.includes("files"));
  const edited = await bot.helpers.editMessage(CHANNEL_ID, sent.id, { content: "edited" });
  assert.equal(edited.content, "edited");
});

test("a command is registered, used and answered", async () => {
  await bot.helpers.upsertGuildApplicationCommands(GUILD_ID, [
    {
      name: "say",
      description: "Say it",
      options: [{ type: 3, name: "text", description: "What", required: true, choices: [] }],
    },
  ]);
  onInteraction = async (interaction) => {
    await bot.helpers.sendInteractionResponse(interaction.id, interaction.token, { type: 4, data: { content: "said" } });
    await bot.helpers.sendFollowupMessage(interaction.token, { content: "after" });
  };
  await useCommand("say", { text: "hello" });
  await messageOf("said");
  await messageOf("after");
});

test("a select whose values are numbers", async () => {
  const options = [{ label: 1, value: 0 }, { label: "two", value: 2 }];
  const components = [{ type: 1, components: [{ type: 3, customId: "pick", options }] }];
  await bot.helpers.sendMessage(CHANNEL_ID, { content: "choose", components });
  onInteraction = (interaction) =>
    bot.helpers.sendInteractionResponse(interaction.id, interaction.token, {
      type: 7,
      data: { content: `chose ${interaction.data.values[0]}`, components: [] },
    });
  await useComponent(await messageOf("choose"), { component_type: 3, custom_id: "pick", values: ["0"] });
  await messageOf("chose 0");
});

test("settings of a channel", async () => {
  await bot.helpers.editChannel(CHANNEL_ID, { rateLimitPerUser: 10 });
  assert.equal((await person("GET", `/channels/${CHANNEL_ID}`)).rate_limit_per_user, 10);
});
