"""A lending library with disnake: a slash command with autocomplete, a select menu, and a command on messages.

Run it with a bot token in TOKEN: python library.py
"""

import os

import disnake
from disnake.ext import commands

BOOKS = ["Dune", "Emma", "Middlemarch", "Momo", "Persuasion"]


class Shelf(disnake.ui.StringSelect):
    """The books that one may borrow."""

    def __init__(self) -> None:
        super().__init__(custom_id="shelf", placeholder="Which one?", options=BOOKS)

    async def callback(self, interaction: disnake.MessageInteraction) -> None:
        """Lend the book."""
        await interaction.response.send_message(f"Enjoy {self.values[0]}!", ephemeral=True)


bot = commands.InteractionBot(intents=disnake.Intents.default())


@bot.slash_command(description="Look a book up")
async def book(interaction: disnake.ApplicationCommandInteraction, title: str) -> None:
    """Say whether there is a book."""
    await interaction.response.defer()
    answer = f"{title} is on the shelf." if title in BOOKS else f"We do not have {title}."
    await interaction.edit_original_response(content=answer)


@book.autocomplete("title")
async def titles(_interaction: disnake.ApplicationCommandInteraction, text: str) -> list[str]:
    """The books whose titles begin like what is typed."""
    return [title for title in BOOKS if title.lower().startswith(text.lower())]


@bot.slash_command(description="Show the shelf")
async def shelf(interaction: disnake.ApplicationCommandInteraction) -> None:
    """Show a menu of books."""
    view = disnake.ui.View(timeout=None)
    view.add_item(Shelf())
    await interaction.response.send_message("Take one:", view=view)


@bot.message_command(name="Recommend")
async def recommend(interaction: disnake.ApplicationCommandInteraction, message: disnake.Message) -> None:
    """Recommend a book for a message."""
    await interaction.response.send_message(f"For {message.author.name}: {BOOKS[0]}")


if __name__ == "__main__":
    bot.run(os.environ["TOKEN"])
