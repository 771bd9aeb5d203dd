// What discord.js does on a live server. The environment says where that is and who takes part (test_discord_js.py).
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";

import {
  ActionRowBuilder,
  AttachmentBuilder,
  ButtonBuilder,
  ButtonStyle,
  ChannelType,
  Client,
  DiscordAPIError,
  EmbedBuilder,
  Events,
  GatewayIntentBits,
  LabelBuilder,
  MessageFlags,
  ModalBuilder,
  Partials,
  PermissionFlagsBits,
  SlashCommandBuilder,
  TextInputBuilder,
  TextInputStyle,
} from "discord.js";

const { MOOTHALL_URL, BOT_TOKEN, PERSON_TOKEN, PERSON_ID, GUILD_ID, CHANNEL_ID } = process.env;

const client = new Client({
  intents: Object.values(GatewayIntentBits).filter((bit) => typeof bit === "number"),
  partials: [Partials.Channel],
  rest: { api: `${MOOTHALL_URL}/api`, cdn: MOOTHALL_URL, version: "10" },
});
let guild;
let channel;

/** A request of the person's. */
async function person(method, path, body) {
  const answer = await fetch(`${MOOTHALL_URL}/api/v10${path}`, {
    method,
    headers: { authorization: PERSON_TOKEN, "content-type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.status === 204 ? undefined : answer.json();
}

/** The first argument of the next event that a check admits. */
function next(event, check = () => true) {
  return new Promise((resolve) => {
    const listener = (...given) => {
      if (check(...given)) {
        client.off(event, listener);
        resolve(given[0]);
      }
    };
    client.on(event, listener);
  });
}

before(async () => {
  const ready = once(client, Events.ClientReady);
  await client.login(BOT_TOKEN);
  await ready;
  guild = client.guilds.cache.get(GUILD_ID);
  channel = client.channels.cache.get(CHANNEL_ID);
});

after(() => client.destroy());

test("login fills the caches", async () => {
  assert.ok(client.user.bot);
  assert.equal(client.application.id, client.user.id);
  assert.equal((await client.application.fetch()).owner.id, PERSON_ID);
  assert.equal(guild.ownerId, PERSON_ID);
  assert.equal(guild.memberCount, 2);
  assert.equal(channel.type, ChannelType.GuildText);
  assert.ok(guild.members.me.permissions.has(PermissionFlagsBits.Administrator));
  assert.deepEqual([...(await guild.members.fetch()).keys()].sort(), [PERSON_ID, client.user.id].sort());
  assert.equal(guild.members.cache.get(PERSON_ID).user.bot, false);
});

test("a person's message is heard and answered", async () => {
  const heard = next(Events.MessageCreate, (message) => message.author.id === PERSON_ID);
  const asked = await person("POST", `/channels/${CHANNEL_ID}/messages`, { content: "!ping" });
  const message = await heard;
  assert.equal(message.content, "!ping");
  const reply = await message.reply({
    content: "pong",
    embeds: [new EmbedBuilder().setTitle("Tides").setColor(0x3366ff).addFields({ name: "High", value: "noon" })],
  });
  assert.equal(reply.reference.messageId, asked.id);
  const fetched = await channel.messages.fetch({ message: reply.id, force: true });
  assert.equal(fetched.embeds[0].title, "Tides");
  assert.deepEqual(fetched.embeds[0].fields, [{ name: "High", value: "noon", inline: false }]);
});

test("messages are edited, reacted to, pinned and deleted", async () => {
  const message = await channel.send("before");
  const updated = next(Events.MessageUpdate, (_, now) => now.content === "after");
  await message.edit("after");
  await updated;
  const added = next(Events.MessageReactionAdd);
  await message.react("⚓");
  assert.equal((await added).emoji.name, "⚓");
  assert.equal((await message.reactions.cache.get("⚓").users.fetch()).size, 1);
  await message.pin();
  assert.equal((await channel.messages.fetchPins()).items.length, 1);
  await message.unpin();
  const gone = next(Events.MessageDelete);
  await message.delete();
  assert.equal((await gone).id, message.id);
  const many = await Promise.all(["a", "b", "c"].map((content) => channel.send(content)));
  assert.equal((await channel.bulkDelete(many)).size, 3);
});

test("roles and channels are made, moved, changed and deleted, and the audit log tells of it", async () => {
  const low = await guild.roles.create({ name: "Low", reason: "first" });
  const high = await guild.roles.create({ name: "High", colors: { primaryColor: 0x3366ff } });
  assert.equal(high.colors.primaryColor, 0x3366ff);
  await low.setPosition(1, { reason: "sorted" });
  await high.setPosition(2);
  assert.ok(high.comparePositionTo(low) > 0);
  await low.edit({ name: "Lower", permissions: [PermissionFlagsBits.KickMembers] });
  const category = await guild.channels.create({ name: "Docks", type: ChannelType.GuildCategory });
  const berths = await guild.channels.create({
    name: "berths",
    parent: category,
    topic: "Who lies where",
    permissionOverwrites: [{ id: guild.id, deny: [PermissionFlagsBits.SendMessages] }],
  });
  assert.equal(berths.parentId, category.id);
  assert.ok(berths.permissionOverwrites.cache.get(guild.id).deny.has(PermissionFlagsBits.SendMessages));
  await berths.permissionOverwrites.edit(low, { SendMessages: true });
  await berths.setName("moorings");
  await berths.setPosition(0);
  assert.equal(berths.name, "moorings");
  await berths.delete("storm");
  await low.delete();
  const log = await guild.fetchAuditLogs({ limit: 50 });
  const reasons = log.entries.map((entry) => entry.reason);
  for (const reason of ["first", "storm"]) assert.ok(reasons.includes(reason), reason);
});

test("members are named, silenced and given roles", async () => {
  const role = await guild.roles.create({ name: "Watch" });
  const me = guild.members.me;
  await me.roles.add(role);
  assert.ok((await guild.members.fetch({ user: me.id, force: true })).roles.cache.has(role.id));
  await me.roles.remove(role);
  await me.setNickname("Harbour master");
  assert.equal((await guild.members.fetch({ user: me.id, force: true })).nickname, "Harbour master");
  assert.equal((await guild.bans.fetch()).size, 0);
});

test("webhooks and invites work", async () => {
  const webhook = await channel.createWebhook({ name: "Lighthouse" });
  const sent = await webhook.send({ content: "fog", username: "Keeper" });
  assert.equal(sent.author.username, "Keeper");
  assert.equal((await webhook.editMessage(sent, "clear")).content, "clear");
  await webhook.deleteMessage(sent);
  assert.equal((await channel.fetchWebhooks()).size, 1);
  await webhook.delete();
  const invite = await channel.createInvite({ maxAge: 60, maxUses: 1 });
  assert.equal((await client.fetchInvite(invite.code)).guild.id, GUILD_ID);
  assert.equal((await guild.invites.fetch()).size, 1);
  await invite.delete();
});

test("files are sent, shown, described anew and read", async () => {
  const files = [
    new AttachmentBuilder(Buffer.from("hello"), { name: "a b.txt", description: "words" }),
    new AttachmentBuilder(Buffer.alloc(300_000, 7), { name: "big.bin" }),
  ];
  const heard = next(Events.MessageCreate, (message) => message.attachments.size === 2);
  const sent = await channel.send({ files });
  assert.equal((await heard).id, sent.id);
  const [text, big] = sent.attachments.values();
  assert.deepEqual([text.name, text.size, text.description], ["a_b.txt", 5, "words"]);
  const read = await fetch(big.url);
  assert.equal((await read.arrayBuffer()).byteLength, 300_000);
  const edited = await sent.edit({ attachments: [big], files: [{ attachment: Buffer.from("new"), name: "new.txt" }] });
  assert.deepEqual([...edited.attachments.values()].map((one) => one.name), ["big.bin", "new.txt"]);
});

/** Raise an interaction as the person, and the interaction that discord.js makes of it. */
async function raised(type, data, more = {}) {
  const heard = next(Events.InteractionCreate);
  const body = { type, application_id: client.application.id, guild_id: GUILD_ID, channel_id: CHANNEL_ID, data };
  await person("POST", "/interactions", { ...body, ...more });
  return heard;
}

test("commands are registered, completed, used and followed up", async () => {
  const builder = new SlashCommandBuilder()
    .setName("feed")
    .setDescription("Feed somebody")
    .addUserOption((option) => option.setName("who").setDescription("Whom").setRequired(true))
    .addStringOption((option) => option.setName("what").setDescription("With").setAutocomplete(true));
  const command = (await client.application.commands.set([builder])).first();
  const given = { id: command.id, type: 1, version: command.version };
  const typing = await raised(4, { ...given, options: [{ type: 3, name: "what", value: "ap", focused: true }] });
  assert.ok(typing.isAutocomplete());
  assert.deepEqual([typing.options.getFocused(true).name, typing.options.getFocused()], ["what", "ap"]);
  await typing.respond([{ name: "Apple", value: "apple" }]);
  const options = [
    { type: 6, name: "who", value: PERSON_ID },
    { type: 3, name: "what", value: "apple" },
  ];
  const used = await raised(2, { ...given, options });
  assert.ok(used.isChatInputCommand());
  assert.deepEqual([used.options.getMember("who").id, used.options.getString("what")], [PERSON_ID, "apple"]);
  assert.ok(used.memberPermissions.has(PermissionFlagsBits.SendMessages));
  const deferred = await used.deferReply({ flags: MessageFlags.Ephemeral, withResponse: true });
  assert.ok(deferred.interaction.responseMessageEphemeral && deferred.interaction.responseMessageLoading);
  assert.equal((await used.editReply("fed")).content, "fed");
  const follow = await used.followUp({ content: "more", files: [{ attachment: Buffer.from("x"), name: "x.txt" }] });
  assert.equal(follow.attachments.first().name, "x.txt");
  await used.deleteReply(follow);
  await used.deleteReply();
  await assert.rejects(used.fetchReply(), (error) => error.code === 10008);
  await client.application.commands.set([]);
});

test("buttons and modals are answered", async () => {
  const button = new ButtonBuilder().setCustomId("go").setLabel("Go").setStyle(ButtonStyle.Primary);
  const message = await channel.send({ content: "press", components: [new ActionRowBuilder().addComponents(button)] });
  const pressed = await raised(3, { custom_id: "go", component_type: 2 }, { message_id: message.id });
  assert.ok(pressed.isButton());
  assert.equal(pressed.message.id, message.id);
  const input = new TextInputBuilder().setCustomId("why").setStyle(TextInputStyle.Short);
  const label = new LabelBuilder().setLabel("Why").setTextInputComponent(input);
  await pressed.showModal(new ModalBuilder().setCustomId("form").setTitle("Form").addLabelComponents(label));
  const components = [{ type: 18, component: { type: 4, custom_id: "why", value: "because" } }];
  const handed = await raised(5, { id: pressed.id, custom_id: "form", components });
  assert.ok(handed.isModalSubmit() && handed.isFromMessage());
  assert.equal(handed.fields.getTextInputValue("why"), "because");
  const updated = await handed.update({ content: "thanks", components: [], withResponse: true });
  assert.equal(updated.resource.message.content, "thanks");
  const wrong = await raised(3, { custom_id: "none" }, { message_id: message.id }).catch((error) => error.message);
  assert.match(wrong, /400/);
});

test("a refusal carries the public code", async () => {
  await assert.rejects(channel.messages.fetch("1"), (error) => error instanceof DiscordAPIError && error.code === 10008);
  await assert.rejects(channel.send("x".repeat(2001)), (error) => error.code === 50035 && error.status === 400);
});

test("direct messages go both ways", async () => {
  const user = await client.users.fetch(PERSON_ID);
  const sent = await user.send("psst");
  const answered = next(Events.MessageCreate, (message) => message.author.id === PERSON_ID);
  await person("POST", `/channels/${sent.channelId}/messages`, { content: "what?" });
  assert.equal((await answered).content, "what?");
});

test("a cut connection is resumed with nothing missed or doubled", async () => {
  const heard = [];
  const listener = (message) => message.author.id === PERSON_ID && heard.push(message.content);
  client.on(Events.MessageCreate, listener);
  const resumed = next(Events.ShardResume);
  // The library gives no way to break its own connection.
  client.ws._ws.strategy.shards.get(0).connection.terminate();
  const said = ["one", "two", "three"];
  for (const content of said) await person("POST", `/channels/${CHANNEL_ID}/messages`, { content });
  await resumed;
  const last = next(Events.MessageCreate, (message) => message.content === "last");
  await person("POST", `/channels/${CHANNEL_ID}/messages`, { content: "last" });
  await last;
  client.off(Events.MessageCreate, listener);
  assert.deepEqual(heard, [...said, "last"]);
});
