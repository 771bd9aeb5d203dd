// What eris does on a live server. It speaks HTTPS only, so that its requests are sent over HTTP here.
import assert from "node:assert/strict";
import http from "node:http";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";

import { BOT_TOKEN, CHANNEL_ID, GUILD_ID, MOOTHALL_URL, messageOf, person, useCommand, useComponent } from "./person.mjs";

const require = createRequire(import.meta.url);
const { port } = new URL(MOOTHALL_URL);
require("https").request = (options) => http.request({ ...options, port });
const Eris = require("eris");

const client = new Eris.Client(`Bot ${BOT_TOKEN}`, {
  intents: ["guilds", "guildMessages", "messageContent"],
  rest: { domain: "localhost", baseURL: "/api/v10" },
});

before(async () => {
  const ready = new Promise((resolve) => client.once("ready", resolve));
  client.on("error", () => {});
  await client.connect();
  await ready;
});

after(() => client.disconnect({ reconnect: false }));

test("a message with a file and a colour that is a float", async () => {
  const embed = { title: "Tides", color: 3447003.0, fields: [{ name: "High", value: 12 }] };
  const sent = await client.createMessage(CHANNEL_ID, { content: "files", embeds: [embed] }, [
    { name: "a.txt", file: Buffer.from("a") },
    { name: "b.txt", file: Buffer.from("b") },
  ]);
  assert.deepEqual(sent.attachments.map?.((each) => each.filename) ?? [], ["a.txt", "b.txt"]);
  assert.equal(sent.embeds[0].fields[0].value, "12");
  const edited = await client.editMessage(CHANNEL_ID, sent.id, "edited");
  assert.equal(edited.content, "edited");
});

test("a command is registered, used and answered", async () => {
  await client.createGuildCommand(GUILD_ID, {
    name: "say",
    description: "Say it",
    type: 1,
    options: [
      { type: 3, name: "text", description: "What", required: true, choices: [] },
      { type: 4, name: "times", description: "How often", min_value: 1 },
    ],
  });
  client.once("interactionCreate", async (interaction) => {
    await interaction.createMessage(interaction.data.options[0].value);
    await interaction.editOriginalMessage({ content: "said" });
    await interaction.createFollowup({ content: "after" });
  });
  await useCommand("say", { text: "hello", times: 2 });
  await messageOf("said");
  await messageOf("after");
});

test("a select whose values are numbers", async () => {
  const options = [{ label: 1, value: 0 }, { label: "two", value: 2 }];
  await client.createMessage(CHANNEL_ID, {
    content: "choose",
    components: [{ type: 1, components: [{ type: 3, custom_id: "pick", options }] }],
  });
  client.once("interactionCreate", (interaction) =>
    interaction.editParent({ content: `chose ${interaction.data.values[0]}`, components: [] }),
  );
  await useComponent(await messageOf("choose"), { component_type: 3, custom_id: "pick", values: ["0"] });
  await messageOf("chose 0");
});

test("numbers as text are numbers", async () => {
  await client.editChannel(CHANNEL_ID, { rateLimitPerUser: "10" });
  assert.equal((await person("GET", `/channels/${CHANNEL_ID}`)).rate_limit_per_user, 10);
  await client.editChannel(CHANNEL_ID, { rateLimitPerUser: 0 });
  const webhook = await client.createChannelWebhook(CHANNEL_ID, { name: "hook" });
  const sent = await client.executeWebhook(webhook.id, webhook.token, { content: "by hook", wait: true });
  await client.editWebhookMessage(webhook.id, webhook.token, sent.id, { content: "by hook, edited" });
  await messageOf("by hook, edited");
});
