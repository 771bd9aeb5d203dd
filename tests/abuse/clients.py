"""Well-behaved clients, one of each kind, which measure how long they wait."""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import aiohttp

from tests.abuse.community import Community, Person
from tests.server.load import PASSWORD

_GIVE_UP = 30.0
"""Seconds; a client that waits longer counts as having waited so long."""
_READERS = 12
_SAME = 6
"""People who log in and connect in turn, for the same reason."""
_BOTS = 3
_OWN_EVERY = 0.02
"""Seconds between two measurements of the clients' own delays."""


@dataclass
class Waits:
    """How long each act of one kind took, in seconds, and how many failed."""

    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def percentile(self, share: float) -> float:
        """The wait that `share` of the acts stayed below; 0 without acts."""
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0

    def __add__(self, other: "Waits") -> "Waits":
        return Waits(self.seconds + other.seconds, self.failures + other.failures)


class Clients:
    """Everybody who uses the server as it is meant, each with an account and an address of their own."""

    def __init__(self, community: Community, people: dict[str, Person], bots: Sequence[tuple[Person, str]]) -> None:
        self._community = community
        self._people = people
        self._bots = itertools.cycle(bots)
        self._webhook_paths = itertools.cycle(community.webhook_paths)
        self._next = {kind: itertools.cycle(_of_kind(people, kind)) for kind in ("reader", "comer", "login", "pages")}
        self.waits: dict[str, Waits] = {}
        self.own_delays = Waits()
        """How late a timer of the clients' own process was: what of the waits is not the server's."""
        self._heard: dict[str, asyncio.Event] = {}
        self.missed = 0
        """Messages that were acknowledged and not heard by the session that listens all the time."""

    @classmethod
    async def ready(cls, community: Community) -> "Clients":
        """Register the people that the clients belong to."""
        several = {"reader": _READERS, "comer": _SAME, "login": _SAME, "pages": _READERS, "bots_owner": _BOTS}
        names = [f"{name}_{number}" for name, count in several.items() for number in range(count)]
        names += ["writer", "listener", "files", "webhook"]
        joined = await asyncio.gather(
            *(community.member(name, f"198.51.100.{10 + at}") for at, name in enumerate(names))
        )
        people = dict(zip(names, joined, strict=True))
        owners = [people[f"bots_owner_{number}"] for number in range(_BOTS)]
        bots = [(owner, await community.bot_token(owner, [community.guild_id])) for owner in owners]
        return cls(community, people, bots)

    async def run(self, seconds: float) -> dict[str, Waits]:
        """Let all clients act for so many seconds; how long each kind waited."""
        self.waits, self.own_delays = {}, Waits()
        listens = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            listening = group.create_task(self._listen(listens))
            async with asyncio.timeout(_GIVE_UP):
                await listens.wait()
            end = time.monotonic() + seconds
            # Of no common measure: else some would act at the same moments again and again.
            acts = [
                self._repeat("read messages", 0.1, end, self._read),
                self._repeat("bot reads guild", 0.17, end, self._bot_reads),
                self._repeat("write and hear", 0.27, end, self._write),
                self._repeat("webhook posts", 0.37, end, self._post),
                self._repeat("load a file", 0.23, end, self._load_file),
                self._repeat("load a page", 0.19, end, self._load_page),
                self._repeat("log in", 0.41, end, self._log_in),
                self._repeat("connect, READY", 0.31, end, self._connect),
                self._repeat("health", 0.21, end, self._health),
                self._measure_own_delays(end),
            ]
            await asyncio.gather(*acts)
            listening.cancel()
        return self.waits

    async def _repeat(self, name: str, pause: float, end: float, act: Callable[[], Awaitable[None]]) -> None:
        waits = self.waits[name] = Waits()
        while time.monotonic() < end:
            started = time.monotonic()
            try:
                async with asyncio.timeout(_GIVE_UP):
                    await act()
            except Exception as error:  # noqa: BLE001 - any failure is one of the server's, and is counted
                waits.failures.append(f"{type(error).__name__}: {error}"[:120])
            took = time.monotonic() - started
            waits.seconds.append(took)
            await asyncio.sleep(max(0.0, pause - took))

    async def _measure_own_delays(self, end: float) -> None:
        while (due := time.monotonic() + _OWN_EVERY) < end:
            await asyncio.sleep(_OWN_EVERY)
            self.own_delays.seconds.append(time.monotonic() - due)

    async def _request(
        self, person: Person, method: str, url: str, *, json: Any = None, token: str | None = None
    ) -> Any:
        headers = {"Authorization": token} if token else {}
        async with person.session.request(method, url, json=json, headers=headers) as answer:
            content = await answer.read()
            if answer.status >= 300:
                raise AssertionError(f"{method} {answer.status} {content[:80]!r}")
            return content

    def _api(self, path: str) -> str:
        return f"{self._community.url}/api/v10{path}"

    async def _read(self) -> None:
        person = next(self._next["reader"])
        url = self._api(f"/channels/{self._community.channel_ids[0]}/messages?limit=50")
        await self._request(person, "GET", url, token=person.token)

    async def _bot_reads(self) -> None:
        url = self._api(f"/guilds/{self._community.guild_id}")
        owner, token = next(self._bots)
        await self._request(owner, "GET", url, token=token)

    async def _write(self) -> None:
        person = self._people["writer"]
        nonce = f"n{time.monotonic_ns() % 10**20}"
        heard = self._heard[nonce] = asyncio.Event()
        url = self._api(f"/channels/{self._community.channel_ids[2]}/messages")
        await self._request(person, "POST", url, token=person.token, json={"content": nonce})
        try:
            async with asyncio.timeout(_GIVE_UP):
                await heard.wait()
        except TimeoutError:
            self.missed += 1
            raise
        finally:
            del self._heard[nonce]

    async def _post(self) -> None:
        url = self._community.url + next(self._webhook_paths)
        await self._request(self._people["webhook"], "POST", f"{url}?wait=true", json={"content": "news"})

    async def _load_file(self) -> None:
        await self._request(self._people["files"], "GET", self._community.file_url)

    async def _load_page(self) -> None:
        await self._request(next(self._next["pages"]), "GET", f"{self._community.url}/login")

    async def _health(self) -> None:
        await self._request(next(self._next["pages"]), "GET", f"{self._community.url}/healthz")

    async def _log_in(self) -> None:
        person = next(self._next["login"])
        body = {"login": person.username, "password": PASSWORD}
        await self._request(person, "POST", self._api("/auth/login"), json=body)

    async def _connect(self) -> None:
        """Connect, identify, and wait for READY and every guild."""
        person = next(self._next["comer"])
        async with self._socket(person) as socket:
            guilds: set[str] | None = None
            while guilds is None or guilds:
                event = json.loads((await socket.receive(timeout=_GIVE_UP)).data)
                if event["t"] == "READY":
                    guilds = {guild["id"] for guild in event["d"]["guilds"] if guild.get("unavailable")}
                elif event["t"] == "GUILD_CREATE" and guilds is not None:
                    guilds.discard(event["d"]["id"])
            await socket.close()

    def _socket(self, person: Person) -> AbstractAsyncContextManager[aiohttp.ClientWebSocketResponse]:
        return _identified(person, self._community.url.replace("http", "ws", 1) + "/gateway?v=10&encoding=json")

    async def _listen(self, listens: asyncio.Event) -> None:
        """Hear every message over one session that heartbeats; `listens` is set once it receives the guild's."""
        async with self._socket(self._people["listener"]) as socket:
            beating = asyncio.create_task(_beat(socket))
            try:
                async for message in socket:
                    event = json.loads(message.data)
                    if event["t"] == "GUILD_CREATE" and event["d"]["id"] == self._community.guild_id:
                        # What is published next comes after it.
                        listens.set()
                    elif event["t"] == "MESSAGE_CREATE":
                        heard = self._heard.get(event["d"]["content"])
                        if heard is not None:
                            heard.set()
            finally:
                beating.cancel()
        raise AssertionError(f"the listener was disconnected: {socket.close_code}")


def _of_kind(people: Mapping[str, Person], kind: str) -> list[Person]:
    return [person for name, person in people.items() if name.rpartition("_")[0] == kind]


async def _beat(socket: aiohttp.ClientWebSocketResponse) -> None:
    with suppress(ConnectionError):
        while True:
            await asyncio.sleep(20)
            await socket.send_json({"op": 1, "d": None})


@asynccontextmanager
async def _identified(person: Person, url: str) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """A WebSocket that has sent IDENTIFY with all intents that are not privileged."""
    async with person.session.ws_connect(url, max_msg_size=0) as socket:
        await socket.receive(timeout=_GIVE_UP)
        properties = {"os": "linux", "browser": "tests", "device": "tests"}
        data = {"token": person.token, "properties": properties, "intents": 0x1FFFF & ~0x8102}
        await socket.send_json({"op": 2, "d": data})
        yield socket
