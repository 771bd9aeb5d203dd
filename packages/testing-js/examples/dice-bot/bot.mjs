// A dice bot with discord.js: a slash command, buttons, and a collector that ends the game.
// Run it with a bot token in TOKEN: node bot.mjs
import { setTimeout as sleep } from "node:timers/promises";
import {
  ActionRowBuilder,
  ButtonBuilder,
  ButtonStyle,
  Client,
  ComponentType,
  GatewayIntentBits,
  SlashCommandBuilder,
} from "discord.js";

const commands = [
  new SlashCommandBuilder()
    .setName("roll")
    .setDescription("Roll a die")
    .addIntegerOption((option) => option.setName("sides").setDescription("How many sides").setMinValue(2)),
  new SlashCommandBuilder().setName("game").setDescription("Everyone who presses the button plays"),
];

/** Makes a client; `rest` are the options of its REST client. */
export function createBot(rest = {}) {
  const client = new Client({
    intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.MessageContent],
    rest,
  });
  client.on("clientReady", (ready) => ready.application.commands.set(commands));
  client.on("messageCreate", async (message) => {
    if (message.content === "ping") await message.reply("pong");
    if (message.content === "tea") {
      await message.react("⏳");
      await sleep(5 * 60_000);
      await message.reply("Your tea is ready.");
    }
  });
  client.on("interactionCreate", async (interaction) => {
    if (!interaction.isChatInputCommand()) return;
    if (interaction.commandName === "roll") {
      const sides = interaction.options.getInteger("sides") ?? 6;
      await interaction.deferReply();
      await interaction.editReply(`You rolled a ${1 + Math.floor(Math.random() * sides)} of ${sides}.`);
    } else {
      await play(interaction);
    }
  });
  return client;
}

async function play(interaction) {
  const button = new ButtonBuilder().setCustomId("play").setLabel("Play").setStyle(ButtonStyle.Primary);
  const row = new ActionRowBuilder().addComponents(button);
  const { resource } = await interaction.reply({ content: "Who plays?", components: [row], withResponse: true });
  const players = new Set();
  const collector = resource.message.createMessageComponentCollector({
    componentType: ComponentType.Button,
    max: 2,
    time: 180_000,
  });
  collector.on("collect", async (press) => {
    players.add(press.user.username);
    await press.update({ content: `Players: ${[...players].join(", ")}` });
  });
  collector.on("end", () => interaction.followUp(players.size === 0 ? "No game." : `${[...players].join(" and ")} play.`));
}

if (process.env.TOKEN !== undefined) await createBot().login(process.env.TOKEN);
