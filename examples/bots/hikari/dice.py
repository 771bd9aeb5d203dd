"""A dice bot with hikari and its command framework lightbulb; it greets new members as well.

Run it with a bot token in TOKEN: python dice.py
"""

import os
import random

import hikari
import lightbulb

bot = hikari.GatewayBot(
    os.environ["TOKEN"], intents=hikari.Intents.ALL_UNPRIVILEGED | hikari.Intents.GUILD_MEMBERS, banner=None
)
client = lightbulb.client_from_app(bot)
bot.subscribe(hikari.StartingEvent, client.start)


@client.register
class Roll(lightbulb.SlashCommand, name="roll", description="Roll dice"):
    """Roll dice."""

    sides = lightbulb.integer("sides", "How many sides", default=6, min_value=2, max_value=100)
    dice = lightbulb.integer("dice", "How many dice", default=1, min_value=1, max_value=10)

    @lightbulb.invoke
    async def invoke(self, ctx: lightbulb.Context) -> None:
        """Answer with the numbers and their sum."""
        numbers = [random.randint(1, self.sides) for _ in range(self.dice)]
        await ctx.respond(f"{', '.join(map(str, numbers))} = {sum(numbers)}")


@bot.listen()
async def greet(event: hikari.MemberCreateEvent) -> None:
    """Greet a new member."""
    guild = await bot.rest.fetch_guild(event.guild_id)
    if guild.system_channel_id is not None:
        await bot.rest.create_message(guild.system_channel_id, f"{event.user.mention}, roll for initiative!")


@bot.listen()
async def count(event: hikari.GuildMessageCreateEvent) -> None:
    """React to a mention with a die."""
    me = bot.get_me()
    if me is not None and me.id in event.message.user_mentions_ids:
        await event.message.add_reaction("🎲")


if __name__ == "__main__":
    bot.run()
