"""The community that each simulation begins with: made once through the API, then laid out as a disk's content."""

import atexit
import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final
from unittest import mock

import msgspec

from moothall.runtime import collector, turns
from moothall.storage.blobs import Blobs
from tests.simulation.disk import Disk
from tests.simulation.loop import run
from tests.simulation.platform.blobs import SimulatedBlobs
from tests.simulation.platform.people import PRIVILEGED_INTENTS, Person
from tests.simulation.platform.server import Reply, Server
from tests.simulation.platform.wild import PASSWORD, Wild, WildMaker
from tests.simulation.postgres import SimulatedServer, create_template, drop_database, simulated_postgres
from tests.simulation.processes import ProcessLoop, TurnsOfProcesses
from tests.simulation.randomness import Randomness, seeded_secrets
from tests.simulation.streams import StreamLoop
from tests.simulation.threads import SimulatedCommits, simulated_commits
from tests.support.passwords import hash_cheaply
from tests.support.signing_keys import generate_once

IMAGE_FILE: Final = "SIMULATION_IMAGE"
"""The environment variable with the path of a stored image."""
MEMORY: Final = Path("/dev/shm")  # noqa: S108 each run has a folder of its own in it
PEOPLE: Final = 6
_VIEW, _SEND = 1 << 10, 1 << 11
_MODERATOR: Final = (
    (1 << 1) | (1 << 2) | (1 << 4) | (1 << 5) | (1 << 7) | (1 << 13) | (1 << 27) | (1 << 28) | (1 << 29) | (1 << 34)
)
"""Kick, ban, manage channels, guild, see the audit log, manage messages, nicknames, roles, webhooks, threads."""


class Guild(msgspec.Struct):
    """A guild, with the roles and channels that are never deleted."""

    id: str
    owner: str
    name: str
    moderator: str
    """The role of moderators."""
    insider: str
    """The role that may view the secret channel."""
    general: str
    secret: str
    forum: str
    voice: str
    members: list[str]


class Image(msgspec.Struct):
    """The community, with the files of its database."""

    files: dict[str, bytes]
    blobs: dict[str, bytes]
    now: float
    people: list[Person]
    guilds: list[Guild]
    application: str
    invites: dict[str, str]
    """Codes without a bound, by guild."""
    wild: Wild
    database: str = ""
    """The name of the database on PostgreSQL; empty where it is in `files`."""


@contextmanager
def simulated_world(loop: ProcessLoop, randomness: Randomness, blobs: SimulatedBlobs) -> Iterator[SimulatedCommits]:
    """Replace threads, blobs, tokens and names of hosts while the block runs."""
    commits = SimulatedCommits(loop, randomness.stream("commits"))
    with ExitStack() as stack:
        stack.enter_context(simulated_commits(commits))
        stack.enter_context(mock.patch.object(turns, "_of_thread", TurnsOfProcesses()))
        stack.enter_context(seeded_secrets(randomness.stream("secrets")))
        stack.enter_context(mock.patch.object(Blobs, "open", return_value=blobs))
        stack.enter_context(mock.patch("secrets.choice", randomness.stream("secrets").choice))
        stack.enter_context(mock.patch("socket.getaddrinfo", _no_host))
        stack.enter_context(mock.patch.object(collector, "gc", _NoCollections))
        stack.enter_context(mock.patch("random.uniform", randomness.stream("random").uniform))
        yield commits


class _NoCollections:
    """In place of `gc`: when it collects depends on all that the process has allocated before."""

    freeze = enable = collect = staticmethod(lambda: None)
    set_threshold = staticmethod(lambda *_: None)
    get_count = staticmethod(lambda: (0, 0, 0))


def _no_host(*_: Any, **__: Any) -> Any:
    raise OSError("there is no network")


@contextmanager
def folder() -> Iterator[Path]:
    """An empty folder in memory."""
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        yield Path(name)


@cache
def image() -> Image:
    """The community; the same in each process, also one with a planted bug, which reads it from a file."""
    hash_cheaply()
    generate_once()
    if (stored := os.environ.get(IMAGE_FILE)) is not None:
        return msgspec.msgpack.decode(Path(stored).read_bytes(), type=Image)
    randomness = Randomness(0)
    loop = StreamLoop(randomness.stream("loop"), randomness.stream("streams"))
    blobs = SimulatedBlobs()
    with simulated_world(loop, randomness, blobs):
        return run(loop, _make(loop, randomness, blobs))


@contextmanager
def stored_image(url: str | None = None) -> Iterator[dict[str, str]]:
    """The environment in which other processes use the image of this one, on the PostgreSQL server of a URL or none."""
    with folder() as path:
        file = path / "image"
        file.write_bytes(msgspec.msgpack.encode(image() if url is None else postgres_image(url)))
        yield {**os.environ, IMAGE_FILE: str(file)}


async def _make(loop: StreamLoop, randomness: Randomness, blobs: SimulatedBlobs) -> Image:
    disk = Disk(randomness.stream("disk"))
    with folder() as path:
        mount = disk.mount(path)
        try:
            server = Server(loop, 1, path)
            await server.start()
            made = await _Maker(server).make()
            await server.stop()
            disk.kill()
        finally:
            mount.unmount()
    _finish(made, loop, blobs)
    made.files = {name: bytes(file.platter) for name, file in disk.files.items()}
    return made


def _finish(made: Image, loop: StreamLoop, blobs: SimulatedBlobs) -> None:
    made.blobs = dict(blobs.data)
    made.now = loop.time() + 10


@cache
def postgres_image(url: str) -> Image:
    """The community in a database of a PostgreSQL server, which is there until the process ends."""
    hash_cheaply()
    generate_once()
    if (stored := os.environ.get(IMAGE_FILE)) is not None:
        return msgspec.msgpack.decode(Path(stored).read_bytes(), type=Image)
    name = f"moothall_simulation_{os.getpid()}"
    create_template(url, f"{name}_empty")
    atexit.register(drop_database, url, name)
    randomness = Randomness(0)
    loop = StreamLoop(randomness.stream("loop"), randomness.stream("streams"))
    blobs = SimulatedBlobs()
    server = SimulatedServer(url, f"{name}_empty", name, loop, randomness.stream("postgres"))
    with simulated_world(loop, randomness, blobs), simulated_postgres(server):
        made = run(loop, _make_on_postgres(loop, server, blobs))
    server.close(keep=True)
    drop_database(url, f"{name}_empty")
    made.database = name
    return made


async def _make_on_postgres(loop: StreamLoop, database: SimulatedServer, blobs: SimulatedBlobs) -> Image:
    with folder() as path:
        server = Server(loop, 1, path, database_url=database.url)
        await server.start()
        made = await _Maker(server).make()
        await server.stop()
    _finish(made, loop, blobs)
    return made


class _Maker:
    """Makes the community through the API."""

    def __init__(self, server: Server) -> None:
        self._server = server

    async def _call(
        self, person: Person | None, method: str, path: str, body: Any = msgspec.UNSET, query: Any = None
    ) -> Any:
        token = "" if person is None else person.token
        reply: Reply = await self._server.request(method, path, body, token=token, query=query)
        if reply.status >= 400:
            raise AssertionError(f"{method} {path}: {reply.status} {reply.body!r}")
        return reply.json

    async def make(self) -> Image:
        people = []
        for number in range(PEOPLE):
            account = {"username": f"person{number}", "password": PASSWORD}
            made = await self._call(None, "POST", "/auth/register", account)
            people.append(Person(made["user_id"], f"person{number}", made["token"]))
        application = await self._call(people[0], "POST", "/applications", {"name": "Robot"})
        reset = await self._call(people[0], "POST", f"/applications/{application['id']}/bot/reset")
        bot = Person(application["id"], "Robot", f"Bot {reset['token']}", bot=True)
        await self._call(bot, "PATCH", "/applications/@me", {"flags": PRIVILEGED_INTENTS})
        guilds = [
            await self._guild(people[0], people[1:5], [people[1]], "First"),
            await self._guild(people[1], [people[0], *people[3:6]], [people[3]], "Second"),
        ]
        for guild, owner in zip(guilds, people, strict=False):
            await self._call(
                owner,
                "POST",
                "/oauth2/authorize",
                {"authorize": True, "guild_id": guild.id, "permissions": "8"},
                {"client_id": application["id"], "scope": "bot", "permissions": "8"},
            )
        invites = {}
        for guild, owner in zip(guilds, people, strict=False):
            invite = await self._call(
                owner, "POST", f"/channels/{guild.general}/invites", {"max_age": 0, "max_uses": 0}
            )
            invites[guild.id] = invite["code"]
        wild = await WildMaker(self._server, people).make()
        return Image({}, {}, 0.0, [*people, bot], guilds, application["id"], invites, wild)

    async def _guild(self, owner: Person, others: list[Person], moderators: list[Person], name: str) -> Guild:
        made = await self._call(owner, "POST", "/guilds", {"name": name})
        guild_id = made["id"]
        path = f"/guilds/{guild_id}"
        role = await self._call(owner, "POST", f"{path}/roles", {"name": "Mod", "permissions": str(_MODERATOR)})
        insider = await self._call(owner, "POST", f"{path}/roles", {"name": "Insider", "permissions": "0"})
        overwrites = [
            {"id": guild_id, "type": 0, "allow": "0", "deny": str(_VIEW)},
            {"id": insider["id"], "type": 0, "allow": str(_VIEW | _SEND), "deny": "0"},
        ]
        channels = {}
        for kind, number, extra in (
            ("general", 0, {}),
            ("secret", 0, {"permission_overwrites": overwrites}),
            ("forum", 15, {}),
            ("voice", 2, {}),
        ):
            channel = await self._call(
                owner, "POST", f"{path}/channels", {"name": f"sim-{kind}", "type": number, **extra}
            )
            channels[kind] = channel["id"]
            if kind == "general":
                community = {"features": ["COMMUNITY"], "verification_level": 1, "explicit_content_filter": 2}
                places = {"rules_channel_id": channel["id"], "public_updates_channel_id": channel["id"]}
                await self._call(owner, "PATCH", path, {**community, **places})
        invite = await self._call(owner, "POST", f"/channels/{channels['general']}/invites", {})
        for person in others:
            await self._call(person, "POST", f"/invites/{invite['code']}", {})
        for person in moderators:
            await self._call(owner, "PUT", f"{path}/members/{person.id}/roles/{role['id']}")
        for person in others[1:3]:
            await self._call(owner, "PUT", f"{path}/members/{person.id}/roles/{insider['id']}")
        members = [owner.id, *(person.id for person in others)]
        return Guild(guild_id, owner.id, name, role["id"], insider["id"], members=members, **channels)
