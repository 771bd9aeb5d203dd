"""Interactions: `python -m benchmarks.interactions`, on a server of its own.

What an access token costs against a bot's token, how long it is from a person's click to the message that answers
it, and what many interactions cost that get no response.
"""

import asyncio
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.__main__ import free_port, load, memory_kb, ours, raw, running

ROUNDS = 5
TRIPS = 400
PENDING = 500
AT_ONCE = 16
GUILD_MESSAGES = 1 << 9


class Client:
    """Requests of one user."""

    def __init__(self, session: aiohttp.ClientSession, port: int, authorization: str) -> None:
        self._session = session
        self._url = f"http://127.0.0.1:{port}/api/v10"
        self.authorization = authorization

    async def call(self, method: str, path: str, body: Any = None) -> Any:
        """One request; its answer. Raises RuntimeError for a refusal."""
        headers = {"Authorization": self.authorization} if self.authorization else {}
        async with self._session.request(method, self._url + path, json=body, headers=headers) as answer:
            text = await answer.text()
            if answer.status >= 400:
                raise RuntimeError(f"{method} {path}: {answer.status} {text}")
            return json.loads(text) if text else None


class Listener:
    """A gateway session; `heard` is called with each dispatch."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse, heard: Callable[[str, Any], Awaitable[None]]) -> None:
        self._socket = socket
        self._heard = heard
        self._waiting: set[asyncio.Task[None]] = set()

    async def identify(self, token: str) -> None:
        """Log in, until READY."""
        await self._socket.receive()
        data = {"token": token.removeprefix("Bot "), "intents": GUILD_MESSAGES, "properties": {}}
        await self._socket.send_json({"op": 2, "d": data})
        while (await self._socket.receive_json())["t"] != "READY":
            pass

    async def _do(self, name: str, data: Any) -> None:
        await self._heard(name, data)

    async def listen(self) -> None:
        """Hear, until the session ends."""
        async for message in self._socket:
            frame = message.json()
            if frame["op"] == 0:
                task: asyncio.Task[None] = asyncio.create_task(self._do(frame["t"], frame["d"]))
                self._waiting.add(task)
                task.add_done_callback(self._waiting.discard)


class Stage:
    """An application with a command, the person who uses it, and what they hear."""

    def __init__(self, bot: Client, person: Client, application_id: str, guild_id: str, channel_id: str) -> None:
        self.bot = bot
        self.person = person
        self.application_id = application_id
        self.guild_id = guild_id
        self.channel_id = channel_id
        self.command_id = ""
        self.answers = True
        self.done: dict[str, asyncio.Future[None]] = {}
        self.failed = 0

    async def to_bot(self, name: str, data: Any) -> None:
        """Answer at once."""
        if name == "INTERACTION_CREATE" and self.answers:
            path = f"/interactions/{data['id']}/{data['token']}/callback"
            content = data["data"]["options"][0]["value"]
            await self.bot.call("POST", path, {"type": 4, "data": {"content": content}})

    async def to_person(self, name: str, data: Any) -> None:
        """See the answer, or that there is none."""
        if name == "MESSAGE_CREATE" and (waiting := self.done.pop(data["content"], None)) is not None:
            waiting.set_result(None)
        elif name == "INTERACTION_FAILURE":
            self.failed += 1

    async def raise_(self, mark: str) -> None:
        """Use the command."""
        options = [{"type": 3, "name": "text", "value": mark}]
        body = {
            "type": 2,
            "application_id": self.application_id,
            "guild_id": self.guild_id,
            "channel_id": self.channel_id,
            "nonce": mark,
            "data": {"id": self.command_id, "type": 1, "options": options},
        }
        await self.person.call("POST", "/interactions", body)

    async def trip(self, mark: str) -> float:
        """From the use of the command to the message; in milliseconds."""
        waiting = self.done[mark] = asyncio.get_running_loop().create_future()
        began = time.perf_counter()
        await self.raise_(mark)
        await waiting
        return (time.perf_counter() - began) * 1000


async def prepare(session: aiohttp.ClientSession, port: int) -> tuple[Stage, dict[str, str]]:
    """A stage, and the tokens of its owner's application."""
    anonymous = Client(session, port, "")
    login = await anonymous.call("POST", "/auth/register", {"username": "owner", "password": "correct horse battery"})
    person = Client(session, port, login["token"])
    guild = await person.call("POST", "/guilds", {"name": "Guild"})
    channels = await person.call("GET", f"/guilds/{guild['id']}/channels")
    channel_id = next(channel["id"] for channel in channels if channel["type"] == 0)
    made = await person.call("POST", "/applications", {"name": "Herald"})
    query = f"client_id={made['id']}&scope=bot&permissions=8"
    consent = {"authorize": True, "guild_id": guild["id"], "permissions": "8"}
    await person.call("POST", f"/oauth2/authorize?{query}", consent)
    bot = Client(session, port, f"Bot {made['bot']['token']}")
    stage = Stage(bot, person, made["id"], guild["id"], channel_id)
    option = {"type": 3, "name": "text", "description": "x"}
    command = {"name": "say", "description": "x", "options": [option]}
    stage.command_id = (await bot.call("POST", f"/applications/{made['id']}/commands", command))["id"]
    form = {"grant_type": "client_credentials", "scope": "identify"}
    headers = {"Authorization": aiohttp.encode_basic_auth(made["id"], made["secret"])}
    async with session.post(f"http://127.0.0.1:{port}/api/v10/oauth2/token", data=form, headers=headers) as answer:
        bearer = (await answer.json())["access_token"]
    tokens = {"bot": bot.authorization, "bearer": f"Bearer {bearer}", "person": person.authorization}
    return stage, tokens


def print_times(name: str, times: list[float]) -> None:
    """One line of times in milliseconds."""
    ranked = sorted(times)
    print(f"{name:<44} p50 {ranked[len(ranked) // 2]:7.2f} ms   p99 {ranked[int(len(ranked) * 0.99)]:7.2f} ms")


async def measure(port: int, process: subprocess.Popen[bytes]) -> None:
    """Every row."""
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        stage, tokens = await prepare(session, port)
        await asyncio.to_thread(compare_tokens, port, tokens)
        url = f"http://127.0.0.1:{port}/gateway"
        async with session.ws_connect(url) as one, session.ws_connect(url) as other:
            listeners = Listener(one, stage.to_bot), Listener(other, stage.to_person)
            await listeners[0].identify(tokens["bot"])
            await listeners[1].identify(tokens["person"])
            tasks = [asyncio.create_task(listener.listen()) for listener in listeners]
            await trips(stage)
            await pending(stage, process)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


def compare_tokens(port: int, tokens: dict[str, str]) -> None:
    """What each kind of token costs on one and the same row."""
    rates_by_kind: dict[str, list[float]] = {kind: [] for kind in tokens}
    for _ in range(ROUNDS):
        for kind, token in tokens.items():
            request = raw("GET", "/api/v10/users/@me", {"Authorization": token})
            rates_by_kind[kind].append(load(port, 1.0, [request])["per_second"])
    by_bot = statistics.median(rates_by_kind["bot"])
    for kind, rates in rates_by_kind.items():
        middle = statistics.median(rates)
        print(f"GET /users/@me, {kind + ' token':<28} {middle:9,.0f}/s   {middle / by_bot:.2f} of a bot's")


async def trips(stage: Stage) -> None:
    """Round trips, one after the other and several at once."""
    for number in range(20):
        await stage.trip(f"warm {number}")
    print_times("round trip, one at a time", [await stage.trip(f"one {number}") for number in range(TRIPS)])

    async def several(worker: int) -> list[float]:
        return [await stage.trip(f"{worker} {number}") for number in range(TRIPS // AT_ONCE)]

    began = time.perf_counter()
    times = [each for part in await asyncio.gather(*map(several, range(AT_ONCE))) for each in part]
    print_times(f"round trip, {AT_ONCE} at once", times)
    print(f"{'':<44} {len(times) / (time.perf_counter() - began):,.0f}/s")


async def pending(stage: Stage, process: subprocess.Popen[bytes]) -> None:
    """Interactions without a response: their memory, and the latency of other requests meanwhile."""
    stage.answers = False
    before = memory_kb(process)
    raised = []
    began = time.perf_counter()

    async def one(number: int) -> None:
        start = time.perf_counter()
        await stage.raise_(f"pending {number}")
        raised.append((time.perf_counter() - start) * 1000)

    for first in range(0, PENDING, AT_ONCE):
        await asyncio.gather(*(one(number) for number in range(first, min(first + AT_ONCE, PENDING))))
    print_times(f"raising {PENDING}, {AT_ONCE} at once", raised)
    print(f"{f'{PENDING} pending':<44} {memory_kb(process) - before:,} kB more memory")
    times = []
    while stage.failed < PENDING:
        start = time.perf_counter()
        await stage.person.call("GET", "/users/@me")
        times.append((time.perf_counter() - start) * 1000)
        await asyncio.sleep(0.002)
    print_times("GET /users/@me until all are given up", times)
    took = time.perf_counter() - began
    print(f"{'all are given up':<44} {took:.2f} s after the first was raised")
    print(f"{'after that':<44} {memory_kb(process) - before:,} kB more memory")


def main() -> None:
    """Run the server, measure, and print."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        with running(ours(Path(folder), port), port) as process:
            asyncio.run(measure(port, process))


if __name__ == "__main__":
    main()
