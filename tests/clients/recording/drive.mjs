// Calls the public methods of a library for Node with default arguments: `drive.mjs LIBRARY`. It does what drive.py does:
// arguments are chosen by the names of parameters, each method of a class is called once, and what deletes comes last.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { MOOTHALL_URL: URL_, BOT_TOKEN: TOKEN, INVITE_CODE } = process.env;
const IDS = JSON.parse(process.env.RECORDED_IDS);
const PNG = Buffer.from(
  "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8cfc0f01f00050001ff89993d1d" +
    "0000000049454e44ae426082",
  "hex",
);
const DATA_URL = `data:image/png;base64,${PNG.toString("base64")}`;
const TOMORROW = new Date(Date.now() + 86_400_000);
const DESTROYS = /^(delete|remove|kick|ban|unban|purge|clear|end|close|revoke|crosspost|unpin|disconnect|bulkDelete|bulkBan|prune)/i;
const LAST = /kick|ban|deleteChannel|^delete$|prune/i;
const NEVER =
  /^(_|on$|once$|off$|emit|connect|login|destroy|disconnect$|constructor|listener|raw|eventNames|setMax|getMax|add(Listener)?$|remove(Listener|AllListeners)|prepend|toString|toJSON|valueOf|isReady|sweep|start|close$|leave(Guild)?$|deleteGuild|guild_?delete|inspect|request|closeVoice|joinVoice|joinChannel|leaveVoice|editStatus|spawn|create$|resume|shutdown|handle|uploadCommands|loadCommands|execute$|runPlugins|updateCache|flush|patch$|queue)/;
const counts = { called: 0, refused: 0, "no value": 0 };

function namesOf(method) {
  const source = Function.prototype.toString.call(method);
  const match = /^(?:async\s+)?(?:function\s*)?\*?[\w$]*\s*\(([^]*?)\)\s*(?:=>|\{)/.exec(source);
  if (!match) return [];
  return match[1]
    .split(/,(?![^{[(]*[}\])])/)
    .map((each) => each.trim())
    .filter(Boolean);
}

function valueOf(name, known) {
  const low = name.replace(/^_+/, "");
  if (low in known) return known[low];
  const id = /(guild|channel|message|user|member|role|webhook|application|emoji|sticker|rule|event|thread|sound|command|stage|integration|entitlement|sku)s?I[dD](s?)$/i.exec(low);
  if (id) {
    const value = known[`${id[1].toLowerCase()}ID`];
    return value === undefined ? undefined : id[2] || /s$/.test(low) ? [value] : value;
  }
  for (const [pattern, value] of [
    [/^reason$/i, "reason"],
    [/nick|name|title|topic|status|label|keyword/i, "name"],
    [/content|text|description|query|question/i, "hello"],
    [/emoji|reaction/i, "👍"],
    [/color/i, 0xff0000],
    [/image|avatar|icon|banner|splash|cover/i, DATA_URL],
    [/time|until|timestamp|date|before|after/i, TOMORROW],
    [/code/i, INVITE_CODE],
    [/limit|count|amount|days|seconds|position|bitrate|slowmode|type|level|num|duration|delay/i, 1],
    [/url/i, "https://example.org/"],
    [/bool|enabled|active|pin|mute|deaf|lock|suppress|archiv/i, true],
    [/options|data|body|settings|payload|params|query|filter/i, known.options ?? {}],
  ])
    if (pattern.test(low)) return value;
  return undefined;
}

const called = new Set();
const later = [];

async function call(thing, name, known) {
  const method = thing[name];
  const args = [];
  for (const parameter of namesOf(method)) {
    if (parameter.startsWith("...")) break;
    if (/=/.test(parameter)) break;
    if (/^[{[]/.test(parameter)) {
      args.push(known.options ?? {});
      continue;
    }
    const value = valueOf(parameter, known);
    if (value === undefined && args.length < method.length) {
      counts["no value"] += 1;
      console.log(`  no value for ${parameter} of ${thing.constructor.name}.${name}`);
      return undefined;
    }
    args.push(value);
  }
  try {
    const result = await Promise.race([
      Promise.resolve(method.apply(thing, args)),
      new Promise((_, reject) => setTimeout(() => reject(new Error("no answer")), 8000).unref()),
    ]);
    counts.called += 1;
    return result;
  } catch (error) {
    counts.refused += 1;
    console.log(`  ${thing.constructor.name}.${name}: ${String(error?.message ?? error).slice(0, 160).replaceAll("\n", " ")}`);
    return undefined;
  }
}

function methodsOf(thing) {
  const names = new Map();
  const own = Object.keys(thing).filter((name) => typeof thing[name] === "function");
  for (const name of own) names.set(name, thing.constructor?.name ?? "");
  for (let proto = Object.getPrototypeOf(thing); proto && proto !== Object.prototype; proto = Object.getPrototypeOf(proto)) {
    if (/^(EventEmitter|Map|Collection|Array|Date|Promise|Buffer)$/.test(proto.constructor.name)) break;
    for (const name of Object.getOwnPropertyNames(proto)) {
      const found = Object.getOwnPropertyDescriptor(proto, name);
      if (typeof found.value === "function" && !names.has(name)) names.set(name, proto.constructor.name);
    }
  }
  return [...names].filter(([name]) => !NEVER.test(name)).sort();
}

async function drive(things, known) {
  for (let round = 0; round < 3 && things.length; round += 1) {
    const returned = [];
    for (const thing of things) {
      for (const [name, owner] of methodsOf(thing)) {
        if (called.has(`${owner}.${name}`)) continue;
        called.add(`${owner}.${name}`);
        if (DESTROYS.test(name)) {
          later.push([thing, name]);
          continue;
        }
        const result = await call(thing, name, known);
        const one = Array.isArray(result) ? result[0] : typeof result?.first === "function" ? result.first() : result;
        if (one && typeof one === "object" && !Buffer.isBuffer(one) && one.constructor !== Object) returned.push(one);
      }
    }
    things = returned;
  }
  later.sort((a, b) => Number(LAST.test(a[1])) - Number(LAST.test(b[1])));
  for (const [thing, name] of later)
    if (!(thing.constructor.name === "Guild" && /^(delete|leave)$/.test(name))) await call(thing, name, known);
  console.log(JSON.stringify(counts));
}

const ID_NAMES = {
  guildID: IDS.guild, channelID: IDS.text, messageID: IDS.message, userID: IDS.member, memberID: IDS.member, roleID: IDS.role,
  webhookID: IDS.webhook, applicationID: IDS.application, emojiID: IDS.emoji, stickerID: IDS.sticker, ruleID: IDS.rule,
  eventID: IDS.event, threadID: IDS.thread, soundID: IDS.sound, stageID: IDS.stage, overwriteID: IDS.role, autoModerationRuleID: IDS.rule,
  id: IDS.member, webhookToken: process.env.WEBHOOK_TOKEN, token: process.env.WEBHOOK_TOKEN, code: INVITE_CODE, inviteCode: INVITE_CODE,
  targetID: IDS.role, fileName: "a.png", guildScheduledEventID: IDS.event, scheduledEventID: IDS.event, templateCode: process.env.TEMPLATE_CODE,
};
const OPTIONS = { content: "hello", name: "name" };

function ready(client, event) {
  return new Promise((resolve, reject) => {
    client.once(event, resolve);
    setTimeout(() => reject(new Error("not ready")), 30_000).unref();
  });
}

async function discordJs(version) {
  // Version 13 speaks HTTPS alone, unless its agent is one for HTTP.
  if (version === 13) require("node:https").Agent = require("node:http").Agent;
  const { Client } = require("discord.js");
  const client =
    version === 13
      ? new Client({ intents: 0x7fff & ~(1 << 15), http: { api: `${URL_}/api`, cdn: URL_, version: "9" } })
      : new Client({ intents: 0x3fffff & ~(0b1111 << 17), rest: { api: `${URL_}/api`, cdn: URL_, version: "10" } });
  const isReady = ready(client, "ready");
  client.on("error", () => undefined);
  await client.login(TOKEN);
  await isReady;
  const guild = client.guilds.cache.get(IDS.guild);
  const channel = (name) => guild.channels.cache.get(IDS[name]);
  const text = channel("text");
  const [member, message] = [await guild.members.fetch(IDS.member), await text.messages.fetch(IDS.message)];
  const [thread, webhook] = [await text.threads.fetch(IDS.thread), await client.fetchWebhook(IDS.webhook)];
  const known = {
    ...ID_NAMES, options: { ...OPTIONS, channel: text, message: "hello" }, user: member, member, role: IDS.role, message: message.id, channel: text,
    guild, webhook: webhook.id, emoji: "👍", roleOrRoles: IDS.role, userOrRole: IDS.role, invite: INVITE_CODE, messages: [message.id],
    thread: thread.id, attachment: { attachment: PNG, name: "a.png" }, nick: "nick", overwrites: [], messageOptions: "hello", id: undefined,
    guildScheduledEvent: IDS.event, autoModerationRule: IDS.rule, sticker: IDS.sticker, users: [member.id], threadMember: IDS.member,
  };
  delete known.id;
  const managers = ["roles", "members", "channels", "emojis", "stickers", "bans", "invites", "scheduledEvents", "autoModerationRules", "commands",
    "stageInstances", "presences", "voiceStates", "soundboardSounds"].map((name) => guild[name]); // prettier-ignore
  const others = [text.messages, text.threads, thread.members, text.permissionOverwrites, member.roles, message.reactions, client.users, client.guilds,
    client.application, client.application?.commands, client.application?.emojis]; // prettier-ignore
  const things = [guild, text, channel("voice"), channel("stage"), channel("forum"), channel("news"), channel("category"), thread, message, member,
    guild.members.me ?? guild.me, guild.roles.cache.get(IDS.role), guild.emojis.cache.first(), webhook, client]; // prettier-ignore
  await drive([...managers, ...others, ...things].filter(Boolean), known);
  client.destroy();
}

async function eris() {
  const Eris = require("eris");
  const client = new Eris.Client(`Bot ${TOKEN}`, { intents: ["all"], rest: { domain: "localhost", baseURL: "/api/v10" } });
  throughPlainHttp();
  const isReady = ready(client, "ready");
  client.on("error", () => undefined);
  await client.connect();
  await isReady;
  await drive([client, client.guilds.get(IDS.guild)], { ...ID_NAMES, options: OPTIONS, content: "hello", member: undefined });
  client.disconnect({ reconnect: false });
}

// eris speaks HTTPS at port 443 alone: its requests are sent to the proxy instead.
function throughPlainHttp() {
  const [http, https] = [require("node:http"), require("node:https")];
  const { port } = new URL(URL_);
  https.request = (options, callback) => http.request({ ...options, protocol: "http:", port, agent: undefined }, callback);
}

async function oceanic() {
  const { Client } = require("oceanic.js");
  const client = new Client({
    auth: `Bot ${TOKEN}`, gateway: { intents: ["ALL"] }, rest: { baseURL: `${URL_}/api/v10`, host: new URL(URL_).host },
  }); // prettier-ignore
  const isReady = ready(client, "ready");
  client.on("error", () => undefined);
  await client.connect();
  await isReady;
  const rest = ["applications", "channels", "guilds", "misc", "oauth", "users", "webhooks"].map((name) => client.rest[name]);
  await drive(rest.filter(Boolean), { ...ID_NAMES, options: OPTIONS });
  client.disconnect(false);
}

async function seyfert() {
  const { Client, config } = require("seyfert");
  const client = new Client({ getRC: () => ({ locations: { base: "." }, intents: 0x3fffff, token: TOKEN, debug: false, ...(config ? {} : {}) }) });
  client.setServices({ rest: new (require("seyfert").ApiHandler)({ token: TOKEN, domain: URL_, baseUrl: "api/v10" }) });
  const shorters = ["applications", "channels", "guilds", "emojis", "members", "messages", "roles", "templates", "threads", "users", "webhooks",
    "reactions", "bans", "interactions", "invites", "voiceStates", "soundboards"]; // prettier-ignore
  await drive(shorters.map((name) => client[name]).filter(Boolean), { ...ID_NAMES, options: OPTIONS, body: OPTIONS, guildId: IDS.guild });
}

async function discordeno() {
  const { createBot } = await import("@discordeno/bot");
  const bot = createBot({ token: TOKEN, rest: { token: TOKEN, proxy: { baseUrl: `${URL_}/api`, authorization: `Bot ${TOKEN}` } } });
  await drive([bot.rest], { ...ID_NAMES, options: OPTIONS, body: OPTIONS });
}

const runs = { "discord.js": () => discordJs(14), "discord.js-13": () => discordJs(13), eris, "oceanic.js": oceanic, seyfert, discordeno };
process.on("unhandledRejection", (error) => console.log(`  unhandled: ${String(error?.message ?? error).slice(0, 160)}`));
await runs[process.argv[2]]();
process.exit(0);
