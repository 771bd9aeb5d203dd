"""@discordjs/voice on a live server, with and without end-to-end encryption: its law is in node/voice.test.mjs."""

import asyncio
import os
import socket
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.activities.certificates import Authority
from tests.clients.live import Server, World
from tests.support.node import HERE, require_node


class Front:
    """TLS in front of the server, on a port of its own: libraries open the voice gateway as wss://."""

    def __init__(self, folder: Path) -> None:
        authority = Authority(folder / "authority")
        self.authority = authority.file
        self.context = authority.server_context("localhost")
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.endpoint = f"localhost:{self.listening.getsockname()[1]}"
        self.target = 0

    async def pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect a client with the server."""
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.target)
        await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


@pytest.fixture(scope="module")
def node() -> str:
    """Node with @discordjs/voice."""
    return require_node()


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Front]:
    """The module's TLS."""
    made = Front(tmp_path_factory.mktemp("front"))
    yield made
    made.listening.close()


@pytest.fixture(scope="module")
def server_settings(front: Front) -> dict[str, str]:
    """The server names the TLS as the voice gateway's endpoint."""
    return {"voice_endpoint": front.endpoint}


@pytest.fixture
async def running_front(front: Front, server: Server) -> AsyncIterator[Front]:
    """The TLS in front of the module's server."""
    front.target = server.port
    async with await asyncio.start_server(front.pass_on, sock=front.listening.dup(), ssl=front.context):
        yield front


@pytest.mark.parametrize("dave", ["0", "1"])
async def test_a_bot_of_discord_js_hears_byte_for_byte_what_another_one_plays(
    node: str,
    world: World,
    running_front: Front,
    dave: str,
) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner)
    channel = await owner.post(f"/guilds/{guild_id}/channels", {"name": "Voice", "type": 2})
    speaker, listener = await world.bot(owner, guild_id), await world.bot(owner, guild_id)
    environment = {
        **os.environ,
        "MOOTHALL_URL": world.server.url,
        "SPEAKER_TOKEN": speaker.token,
        "LISTENER_TOKEN": listener.token,
        "GUILD_ID": str(guild_id),
        "VOICE_ID": channel["id"],
        "DAVE": dave,
        "NODE_EXTRA_CA_CERTS": str(running_front.authority),
    }
    command = [node, "--experimental-websocket", "--test", "--test-reporter=tap", "voice.test.mjs"]

    ran = await asyncio.to_thread(
        subprocess.run, command, cwd=HERE, env=environment, capture_output=True, text=True, timeout=60, check=False
    )

    assert (ran.returncode, "# fail 0" in ran.stdout) == (0, True), ran.stdout + ran.stderr
