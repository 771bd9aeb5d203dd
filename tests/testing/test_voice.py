"""Bots and people in voice channels, in runs of pytest of their own."""

import struct
from pathlib import Path

import pytest

from moothall_testing.sound import read_frames
from tests.support.separate_runs import PLUGIN_SOURCE, PLUGINS

pytest_plugins = ["pytester"]

_INI = f"""
[pytest]
anyio_mode = auto
addopts = {" ".join(PLUGINS)}
filterwarnings =
    error
    ignore:'audioop' is deprecated:DeprecationWarning
"""
_BOT = '''
import discord


class Silence(discord.AudioSource):
    """Frames of Opus that never end."""

    def is_opus(self):
        return True

    def read(self):
        return b"\\xfcsound"


class Client(discord.Client):
    async def on_voice_state_update(self, member, before, after):
        if member.bot or after.channel is None or before.channel == after.channel:
            return
        voice = await after.channel.connect()
        voice.play(Silence())


def client():
    return Client(intents=discord.Intents.default())
'''
_TEST = """
import pytest


async def test_a_bot_is_heard_by_who_joins(moothall, alice):
    bot = await moothall.start_bot("mybot:client")
    await alice.joins_voice("Lounge")
    await alice.hears(bot, seconds=0.5)
    await alice.hears(bot, seconds=0.2)
    await alice.leaves_voice()
    with pytest.raises(Exception, match="is in no voice channel"):
        await alice.hears(bot, seconds=0.2)


async def test_a_bot_hears_who_speaks_unless_one_of_them_is_mute_or_deaf(moothall, alice, bob, guild):
    bot = await moothall.start_bot("mybot:client")
    await bob.joins_voice("Lounge")
    await bot.hears(bob.says_aloud([b"\\xfcword"] * 5))

    path = f"/guilds/{guild.id}/members/"
    await alice.requests("PATCH", path + bob.id, {"mute": True})
    with pytest.raises(AssertionError, match="does not listen"):
        await bot.hears(bob.says_aloud([b"\\xfcword"]), within=0.3)
    await alice.requests("PATCH", path + bob.id, {"mute": False})
    await alice.requests("PATCH", path + bot.id, {"deaf": True})
    with pytest.raises(AssertionError, match="does not listen"):
        await bot.hears(bob.says_aloud([b"\\xfcword"]), within=0.3)


async def test_people_hear_each_other_and_not_themselves(moothall, alice, bob):
    await alice.joins_voice("Lounge")
    await bob.joins_voice("Lounge")
    await alice.says_aloud([b"\\xfcword"] * 20)
    await bob.hears(alice, seconds=0.4)
    with pytest.raises(AssertionError, match="alice did not hear"):
        await alice.hears(alice, seconds=0.1, within=0.2)
    with pytest.raises(AssertionError, match="did not hear"):
        await bob.hears(alice, seconds=0.1, within=0.2)
"""


@pytest.mark.timeout(120)
def test_people_hear_bots_and_each_other(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    pytester.makeini(_INI)
    pytester.makepyfile(mybot=_BOT)
    pytester.makeconftest("import pytest\n@pytest.fixture\ndef anyio_backend(): return 'asyncio'\n")
    pytester.syspathinsert()
    monkeypatch.setenv("PYTHONPATH", PLUGIN_SOURCE)
    pytester.makepyfile(test_bot=_TEST)
    result = pytester.runpytest_subprocess(timeout=110)
    result.assert_outcomes(passed=3)


def _page(packets: list[bytes], *, unfinished: bool = False) -> bytes:
    """A page of Ogg; the last packet goes on in the next page if it is unfinished."""
    sizes = b"".join(bytes([255] * (len(each) // 255) + [len(each) % 255]) for each in packets)
    if unfinished:
        sizes = sizes[:-1]
    return b"OggS" + bytes(22) + struct.pack("B", len(sizes)) + sizes + b"".join(packets)


def test_the_frames_of_a_file_are_read_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "hello.ogg"
    long = b"\xfc" + bytes(599)
    pages = [_page([b"OpusHead"]), _page([b"OpusTags"]), _page([b"\xfcone", b"\xfc", long]), _page([b"\xfctwo"])]
    path.write_bytes(b"".join(pages))
    assert read_frames(path) == [b"\xfcone", b"\xfc", long, b"\xfctwo"]

    path.write_bytes(b"".join(pages[:2]) + _page([long[:510]], unfinished=True) + _page([long[510:]]))
    assert read_frames(path) == [long]


@pytest.mark.parametrize(
    "content", [b"RIFF", b"", _page([b"OpusHead"]) + _page([b"OpusTags"]) + _page([b"\xf4ten ms"])]
)
def test_a_file_of_anything_else_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "hello.ogg"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"hello\.ogg"):
        read_frames(path)
