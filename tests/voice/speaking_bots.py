"""Two unchanged bots of discord.py in one voice channel: one plays Opus, the other one hears it.

They know the platform by its public names alone and are started through `moothall proxy`. Prints what was said and what
was heard, as JSON.
"""

import asyncio
import json
import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import davey
import discord
from nacl.bindings import crypto_aead_xchacha20poly1305_ietf_decrypt

FRAMES = 60
SILENCE = b"\xf8\xff\xfe"
GUILD, CHANNEL, OTHER = int(os.environ["GUILD"]), int(os.environ["CHANNEL"]), int(os.environ["OTHER"])
PROXY = os.environ["HTTPS_PROXY"]


class Frames(discord.AudioSource):
    """Frames of Opus that were made up: no one on their way decodes them."""

    def __init__(self) -> None:
        made = random.Random(5)
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
        self._state = voice._connection
        self._speaker_id = speaker_id
        self._state.add_socket_listener(self._receive)

    def _receive(self, data: bytes) -> None:
        if data[1] in range(192, 224):
            return  # RTCP
        key = bytes(self._state.secret_key)
        opus = crypto_aead_xchacha20poly1305_ietf_decrypt(data[12:-4], data[:12], data[-4:] + bytes(20), key)
        if self._state.can_encrypt and opus != SILENCE:
            opus = self._state.dave_session.decrypt(  # type: ignore[union-attr]
                self._speaker_id, davey.MediaType.audio, opus
            )
        self.heard.append(opus)


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


def heard_of(ears: Ears, frames: list[bytes], start: int = 0) -> int:
    """How many of these frames were heard."""
    return sum(opus in frames for opus in ears.heard[start:])


async def until(condition: Any, seconds: float = 10.0) -> None:
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 the library tells no event
            await asyncio.sleep(0.02)


def kill_voice_process() -> None:
    """Kill the process that the server has started."""
    server = int(os.environ["SERVER_PID"])
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    voice = [int(each) for each in children if b"voice" in Path(f"/proc/{each}/cmdline").read_bytes().split(b"\0")]
    assert len(voice) == 1
    os.kill(voice[0], signal.SIGKILL)


async def main() -> None:
    speaker, listener = await started(os.environ["SPEAKER"]), await started(os.environ["LISTENER"])
    report: dict[str, Any] = {}
    hearing = await listener.get_channel(CHANNEL).connect()  # type: ignore[union-attr]
    speaking = await speaker.get_channel(CHANNEL).connect()  # type: ignore[union-attr]
    ears = Ears(hearing, speaker.user.id)  # type: ignore[union-attr]
    # Both are in one group before the first frame: one that comes earlier is not encrypted, or cannot be decrypted.
    await until(lambda: speaking._connection.can_encrypt and hearing._connection.can_encrypt)
    frames = await play(speaking)
    await until(lambda: heard_of(ears, frames) >= FRAMES)
    report["equal"] = [opus for opus in ears.heard if opus in frames] == frames

    # The bot moves: no one hears it there, and it is heard again once it is back.
    await speaking.move_to(speaker.get_channel(OTHER))
    await until(lambda: speaking.is_connected() and speaking.channel.id == OTHER)
    before = len(ears.heard)
    await play(speaking)
    await asyncio.sleep(0.3)
    report["other"] = heard_of(ears, frames, before)
    await speaking.move_to(speaker.get_channel(CHANNEL))
    await until(lambda: speaking.is_connected() and speaking.channel.id == CHANNEL)
    await until(lambda: speaking._connection.can_encrypt and hearing._connection.can_encrypt)
    before = len(ears.heard)
    await play(speaking)
    await until(lambda: heard_of(ears, frames, before) >= FRAMES)
    report["back"] = True

    # The voice process is killed: both connect to the next one by themselves.
    kill_voice_process()
    killed_at = time.monotonic()
    await until(lambda: not speaking.is_connected() or not hearing.is_connected())
    await until(lambda: speaking.is_connected() and hearing.is_connected(), seconds=40.0)
    before = len(ears.heard)
    while len(ears.heard) == before:
        await play(speaking)
    report["seconds"] = time.monotonic() - killed_at

    await speaking.disconnect()
    report["dave"] = speaking._connection.dave_protocol_version
    print(json.dumps(report), flush=True)
    await speaker.close()
    await listener.close()


asyncio.run(main())
