"""The libraries that the plugin starts bots of, each with the packages that its laws in tests/clients have."""

from collections.abc import Iterator

import pytest

from moothall_testing.libraries import LIBRARIES, patched
from tests.support.client_sites import installed
from tests.support.separate_runs import SeparateRuns, collected

_BOTS = {
    "pycord": """
import discord

client = discord.Bot(intents=discord.Intents.all())

@client.listen()
async def on_message(message):
    if message.content == "ping":
        await message.channel.send("pong")
    if message.content == "fail":
        raise ValueError("no luck")
""",
    "nextcord": """
import nextcord
from nextcord.ext import commands

client = commands.Bot("!", intents=nextcord.Intents.all())

@client.listen()
async def on_message(message):
    if message.content == "ping":
        await message.channel.send("pong")
    if message.content == "fail":
        raise ValueError("no luck")
""",
    "interactions": """
import interactions

client = interactions.Client(intents=interactions.Intents.DEFAULT | interactions.Intents.MESSAGE_CONTENT)

@client.listen(interactions.events.MessageCreate)
async def on_message(event):
    if event.message.content == "ping":
        await event.message.channel.send("pong")
    if event.message.content == "fail":
        raise ValueError("no luck")
""",
}
_TEST = """
import pytest

@pytest.fixture(autouse=True)
def no_deadline(monkeypatch):
    # A client that is ended by the deadline alone never ends.
    monkeypatch.setattr("moothall_testing.bots.STOP_WITHIN", 10_000)

@pytest.mark.parametrize("time", ["first", "again"])
def test_ping(moothall, alice, time):
    bot = moothall.start_bot("mybot:client").wait()
    alice.says("ping").assert_replied("pong", from_=bot, within=15).wait()
    moothall.expects_error(ValueError, match="no luck")
    alice.says("fail").wait()
"""


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SeparateRuns]:
    """The test of each library's bot, running side by side."""
    with SeparateRuns() as started:
        for library in collected(request.session.items, "test_a_bot_of_the_library_is_started_unchanged", "library"):
            folder = tmp_path_factory.mktemp(library)
            (folder / "mybot.py").write_text(_BOTS[library], encoding="utf-8")
            (folder / "test_mybot.py").write_text(_TEST, encoding="utf-8")
            started.start_pytest(library, folder, installed(library))
        yield started


@pytest.mark.timeout(240)
@pytest.mark.parametrize("library", _BOTS)
def test_a_bot_of_the_library_is_started_unchanged(runs: SeparateRuns, library: str) -> None:
    assert "2 passed" in runs.printed(library)


def test_a_patch_is_undone_at_the_end() -> None:
    from discord.http import Route  # noqa: PLC0415 only here

    before = Route.BASE
    with patched("discord.py", "http://localhost:1"):
        assert Route.BASE == "http://localhost:1/api/v10"
    assert before == Route.BASE


def test_an_unknown_library_is_named_with_those_that_are_known() -> None:
    with pytest.raises(LookupError, match=r"eris.*hikari"), patched("eris", "http://localhost:1"):
        pass
    assert set(LIBRARIES) == {"discord.py", "py-cord", "disnake", "nextcord", "hikari", "interactions.py"}
