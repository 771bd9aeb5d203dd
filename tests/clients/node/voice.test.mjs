// Two bots of discord.js in one voice channel: one plays Opus, the other one hears the same bytes. The environment says
// where the server is and who takes part (test_discord_js_voice.py).
import assert from "node:assert/strict";
import { once } from "node:events";
import { Readable } from "node:stream";
import { after, before, test } from "node:test";

import {
  AudioPlayerStatus,
  createAudioPlayer,
  createAudioResource,
  EndBehaviorType,
  entersState,
  joinVoiceChannel,
  StreamType,
  VoiceConnectionStatus,
} from "@discordjs/voice";
import { Client, Events, GatewayIntentBits } from "discord.js";

const { MOOTHALL_URL, SPEAKER_TOKEN, LISTENER_TOKEN, GUILD_ID, VOICE_ID, DAVE } = process.env;
const FRAMES = 50;
/** Frames before those that count: the library knows whose they are once Speaking has come, by another way. */
const LEAD = 10;

const clients = [];
const connections = [];

/** A bot that is online. */
async function online(token) {
  const client = new Client({
    intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildVoiceStates],
    rest: { api: `${MOOTHALL_URL}/api`, cdn: MOOTHALL_URL, version: "10" },
  });
  clients.push(client);
  const ready = once(client, Events.ClientReady);
  await client.login(token);
  await ready;
  return client;
}

/** A bot's connection to the voice channel, ready. */
async function inVoice(client) {
  const connection = joinVoiceChannel({
    group: client.user.id,
    guildId: GUILD_ID,
    channelId: VOICE_ID,
    adapterCreator: client.guilds.cache.get(GUILD_ID).voiceAdapterCreator,
    selfDeaf: false,
    daveEncryption: DAVE === "1",
  });
  connections.push(connection);
  await entersState(connection, VoiceConnectionStatus.Ready, 15_000);
  return connection;
}

let speaker;
let listener;

before(async () => {
  speaker = await online(SPEAKER_TOKEN);
  listener = await online(LISTENER_TOKEN);
});

after(async () => {
  for (const connection of connections) connection.destroy();
  for (const client of clients) await client.destroy();
});

test("what one bot plays is what another one hears, byte for byte", async () => {
  const hearing = await inVoice(listener);
  const speaking = await inVoice(speaker);
  const heard = [];
  const stream = hearing.receiver.subscribe(speaker.user.id, { end: { behavior: EndBehaviorType.Manual } });
  stream.on("data", (frame) => frame.toString().startsWith("frame") && heard.push(frame));
  if (DAVE === "1") {
    // Both are in one group before the first frame, which the other one could not decrypt otherwise.
    const joined = () => [hearing, speaking].every((each) => each.state.networking.state.dave?.session?.ready);
    while (!joined()) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  const frames = Array.from({ length: FRAMES }, (_, number) => Buffer.from(`frame ${number} ${"x".repeat(number)}`));
  const player = createAudioPlayer();
  speaking.subscribe(player);
  const lead = Array.from({ length: LEAD }, () => Buffer.from("lead"));
  player.play(createAudioResource(Readable.from([...lead, ...frames], { objectMode: true }), { inputType: StreamType.Opus }));
  await entersState(player, AudioPlayerStatus.Playing, 5_000);
  await entersState(player, AudioPlayerStatus.Idle, 10_000);
  for (let waited = 0; heard.length < FRAMES && waited < 2_000; waited += 20) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }

  assert.deepEqual(
    heard.map((frame) => frame.toString()),
    frames.map((frame) => frame.toString()),
  );
});
