"""Two unchanged bots of discord.py in one voice channel: one plays Opus, the other one hears it.

They know the platform by its public names alone and are started through `moothall proxy`. Prints what was said and what
was heard, as JSON. Its steps have no deadlines of their own: all of it has one.
"""

import asyncio
import itertools
import json
import os
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import davey
import discord
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_decrypt

FRAMES = 25
LATE = 20
"""How often it is looked whether what was played is heard, 50 ms apart."""
PATIENCE = 60.0
SILENCE = b"\xf8\xff\xfe"
GUILD, CHANNEL, OTHER = int(os.environ["GUILD"]), int(os.environ["CHANNEL"]), int(os.environ["OTHER"])
PROXY = os.environ["HTTPS_PROXY"]


class Frames(discord.AudioSource):
    """Frames of Opus that were made up, others each time: no one on their way decodes them."""

    _numbers = itertools.count()

    def __init__(self) -> None:
        made = random.Random(next(self._numbers))
        self.frames = [b"\xfc" + made.randbytes(made.randint(20, 120)) for _ in range(FRAMES)]
        self._rest = list(self.frames)

    def is_opus(self) -> bool:
        return True

    def read(self) -> bytes:
        return self._rest.pop(0) if self._rest else b""


class Ears:
    """Remembers the Opus of each packet that a voice client receives, decrypted as the library is told to encrypt."""

    def __init__(self, voice: discord.VoiceClient, speaker_id: int) -> None:
        self.heard: list[bytes] = []
        self.received = 0
        """Packets of sound that came, whether their end-to-end encryption could be undone or not."""
        self._state = voice._connection
        self._speaker_id = speaker_id
        self.open()

    def open(self) -> None:
        """Listen from now on."""
        self._state.add_socket_listener(self._receive)

    def close(self) -> None:
        """Listen no longer.

        A client that connects again sends its request for its address before it waits for the answer, which is lost
        where someone listens to the socket meanwhile.
        """
        self._state.remove_socket_listener(self._receive)

    def _receive(self, data: bytes) -> None:
        if data[1] in range(192, 224):
            return  # RTCP
        key = bytes(self._state.secret_key)
        opus = crypto_aead_xchacha20poly1305_ietf_decrypt(data[12:-4], data[:12], data[-4:] + bytes(20), key)
        if opus == SILENCE:
            return
        self.received += 1
        if self._state.can_encrypt:
            opus = self._state.dave_session.decrypt(  # type: ignore[union-attr]
                self._speaker_id, davey.MediaType.audio, opus
            )
        self.heard.append(opus)


def note(step: str) -> None:
    """Tell how far the bots have come, for those who read of a failure."""
    print(step, file=sys.stderr, flush=True)


async def started(token: str) -> discord.Client:
    client = discord.Client(intents=discord.Intents.default(), proxy=PROXY)
    await client.login(token)
    client.connection_task = asyncio.create_task(client.connect())  # type: ignore[attr-defined]
    await client.wait_until_ready()
    return client


async def play(voice: discord.VoiceClient) -> list[bytes]:
    source = Frames()
    done = asyncio.Event()
    loop = asyncio.get_running_loop()
    voice.play(source, after=lambda _error: loop.call_soon_threadsafe(done.set))
    await done.wait()
    return source.frames


async def until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 the library tells no event
        await asyncio.sleep(0.02)


async def heard_in_order(speaking: discord.VoiceClient, ears: Ears) -> bool:
    """Play until all frames of one playing are heard; whether they are those that were played, in order.

    What is played while the two are not yet in one group is lost to the listener, and neither can be seen from outside.
    """
    while True:
        await until(speaking.is_connected)
        before = len(ears.heard)
        frames = await play(speaking)
        for _ in range(LATE):
            heard = [opus for opus in ears.heard[before:] if opus in frames]
            if len(heard) >= FRAMES:
                return heard == frames
            await asyncio.sleep(0.05)


def kill_voice_process() -> None:
    """Kill the process that the server has started."""
    server = int(os.environ["SERVER_PID"])
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    voice = [int(each) for each in children if b"voice" in Path(f"/proc/{each}/cmdline").read_bytes().split(b"\0")]
    assert len(voice) == 1
    os.kill(voice[0], signal.SIGKILL)


async def main() -> None:
    speaker, listener = await asyncio.gather(started(os.environ["SPEAKER"]), started(os.environ["LISTENER"]))
    report: dict[str, Any] = {}
    note("started")
    hearing = await listener.get_channel(CHANNEL).connect(timeout=PATIENCE)  # type: ignore[union-attr]
    speaking = await speaker.get_channel(CHANNEL).connect(timeout=PATIENCE)  # type: ignore[union-attr]
    ears = Ears(hearing, speaker.user.id)  # type: ignore[union-attr]
    # Both are in one group before the first frame: one that comes earlier is not encrypted.
    await until(lambda: speaking._connection.can_encrypt and hearing._connection.can_encrypt)
    note("in one group")
    report["equal"] = await heard_in_order(speaking, ears)

    note("heard")
    # The bot moves: no one hears it there, and it is heard again once it is back.
    await speaking.move_to(speaker.get_channel(OTHER), timeout=PATIENCE)
    await until(lambda: speaking.is_connected() and speaking.channel.id == OTHER)
    before = ears.received
    await play(speaking)
    await asyncio.sleep(0.3)
    report["other"] = ears.received - before
    await speaking.move_to(speaker.get_channel(CHANNEL), timeout=PATIENCE)
    await until(lambda: speaking.is_connected() and speaking.channel.id == CHANNEL)
    note("back")
    report["back"] = await heard_in_order(speaking, ears)

    # The voice process is killed: both connect to the next one by themselves.
    websockets = speaking.ws, hearing.ws
    note("heard after moving")
    ears.close()
    kill_voice_process()
    await until(lambda: speaking.ws is not websockets[0] and hearing.ws is not websockets[1])
    await until(lambda: speaking.is_connected() and hearing.is_connected())
    ears.open()
    note("connected again")
    report["again"] = await heard_in_order(speaking, ears)
    report["dave"] = speaking._connection.dave_protocol_version

    print(json.dumps(report), flush=True)
    await speaking.disconnect()
    await speaker.close()
    await listener.close()


asyncio.run(asyncio.wait_for(main(), PATIENCE))
