"""People who do at random what a bot offers: they find what fails, and tell the shortest way there."""

import re

import pytest

from tests.testing.bot_projects import project, run

__all__ = ["project"]
pytest_plugins = ["pytester"]

_BOT = """
import discord
from discord import app_commands

is_armed = False


class Form(discord.ui.Modal, title="Form"):
    answer = discord.ui.TextInput(label="Word", max_length=5)

    async def on_submit(self, interaction):
        assert len(self.answer.value) <= 5
        await interaction.response.send_message(self.answer.value, ephemeral=True)


class Trap(discord.ui.View):
    @discord.ui.button(label="Arm")
    async def arm(self, interaction, button):
        global is_armed
        is_armed = True
        await interaction.response.edit_message(content="armed")

    @discord.ui.button(label="Write")
    async def write(self, interaction, button):
        await interaction.response.send_modal(Form())

    @discord.ui.select(cls=discord.ui.UserSelect)
    async def pick(self, interaction, select):
        await interaction.response.send_message(select.values[0].name)


class Bot(discord.Client):
    def __init__(self):
        super().__init__(intents=discord.Intents.all())
        self.tree = app_commands.CommandTree(self)

    async def setup_hook(self):
        self.tree.add_command(trap)
        self.tree.add_command(divide)
        await self.tree.sync()


@app_commands.command(description="Show the trap")
async def trap(interaction: discord.Interaction, where: discord.TextChannel | None = None):
    await interaction.response.send_message("trap", view=Trap())


@app_commands.command(description="Divide")
async def divide(interaction: discord.Interaction, by: app_commands.Range[int, 0, 3]):
    FAILURE
    await interaction.response.send_message(str(12 / (by or 1)))


def bot():
    global is_armed
    is_armed = False
    return Bot()
"""
_TEST = """
    def test_whatever_people_do_the_bot_goes_on(moothall):
        moothall.random_people(lambda: moothall.start_bot("trapped:bot"), steps=STEPS, seed=7, says=["hello"]).wait()
    """


def test_what_fails_is_found_and_told_with_the_shortest_way_there(project: pytest.Pytester) -> None:
    project.makepyfile(trapped=_BOT.replace("FAILURE", "if is_armed: 12 / by"))

    result = run(project, _TEST.replace("STEPS", "300"), failed=1)

    printed = result.stdout.str()
    result.stdout.fnmatch_lines(["*12 / by", "E*ZeroDivisionError*", "*"])
    steps = re.findall(r"^E +(\w+)\.(runs|clicks|chooses|says|submits)\((.*)\)$", printed, re.MULTILINE)
    assert [(act, arguments) for _, act, arguments in steps] == [
        ("runs", "'trap'"),
        ("clicks", "message, 'Arm'"),
        ("runs", "'divide', by=0"),
    ] or [(act, arguments.split(",")[0]) for _, act, arguments in steps] == [
        ("runs", "'trap'"),
        ("clicks", "message"),
        ("runs", "'divide'"),
    ], printed
    assert "3 of " in printed
    assert "(seed 7)" in printed
    assert "moothall_testing/" not in printed


def test_a_bot_that_does_not_fail_passes_and_was_really_used(project: pytest.Pytester) -> None:
    project.makepyfile(trapped=_BOT.replace("FAILURE", "pass"))

    run(
        project,
        """
    def test_whatever_people_do_the_bot_goes_on(moothall):
        moothall.random_people(lambda: moothall.start_bot("trapped:bot"), steps=60, seed=3).wait()
        used = {
            (entry["data"]["type"], (entry["data"]["data"].get("component_type")))
            for entry in moothall.entries()
            if entry["kind"] == "event" and entry["name"] == "INTERACTION_CREATE" and "data" in entry["data"]
        }
        assert {kind for kind, _ in used} >= {2, 3, 5}, used  # commands, components, modals
        assert {component for kind, component in used if kind == 3} == {2, 5}, used  # buttons and selects
    """,
        passed=1,
    )


def test_who_offers_nothing_is_an_error_of_the_test(project: pytest.Pytester) -> None:
    project.makepyfile(
        trapped="import discord\n\n\ndef bot():\n    return discord.Client(intents=discord.Intents.all())\n".replace(
            "\\\n", "\n"
        )
    )

    result = run(project, _TEST.replace("STEPS", "5").replace(', says=["hello"]', ""), failed=1)

    result.stdout.fnmatch_lines(["E*ValueError: the bots have no command*"])
