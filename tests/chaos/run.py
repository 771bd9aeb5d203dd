"""One run: clients act while faults happen, then all is healed, and the auditor judges."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.chaos.auditor import State, Verdict, judge
from tests.chaos.availability import MAX_SECONDS, Availability, judge_availability, measure
from tests.chaos.clients import (
    Client,
    Listener,
    change_roles,
    race_for_invites,
    write_messages,
)
from tests.chaos.history import Epoch, Fault, History
from tests.chaos.topologies import TOPOLOGIES, Durations, Topology

_WRITERS = 5
_LISTENERS = 4
_RACERS = 3
_CALM = 60.0
"""Seconds after the last fault in which every session must have received everything."""


class Run:
    """A platform, its clients, and what they know."""

    def __init__(self, topology: Topology, seed: int) -> None:
        self.topology = topology
        self.history = History()
        self.availability: list[Availability] = []
        """What each fault cost."""
        self._chance = random.Random(seed)
        self._stop_writing = asyncio.Event()
        self._stop_listening = asyncio.Event()
        self._clients: list[Client] = []
        self._listeners: list[Listener] = []
        self._guild_id = ""
        self._channel_ids: list[str] = []

    async def act(self, seconds: float, only: Iterable[str], max_pause: float) -> Verdict:
        """Let faults happen for so many seconds; what is wrong afterwards.

        It is wrong too if one keeps the platform from serving for more than `max_pause` seconds.
        """
        try:
            await self.topology.start()
            owner = await self._prepare()
            async with asyncio.TaskGroup() as group:
                for listener in self._listeners:
                    group.create_task(listener.listen(self._stop_listening))
                await self._until(lambda: all(listener.is_joined for listener in self._listeners))
                writing = [group.create_task(work) for work in self._work(owner)]
                try:
                    await self._cause_faults(seconds, tuple(only))
                finally:
                    self._stop_writing.set()
                    await asyncio.gather(*writing)
                try:
                    await self._calm_down(owner)
                finally:
                    self._stop_listening.set()
            states = [await self._read(owner, node) for node in range(len(self.topology.urls()))]
            verdict = judge(self.history, states)
            verdict.problems += judge_availability(self.availability, max_pause)
            return verdict
        finally:
            for client in self._clients:
                await client.close()
            await self.topology.stop()

    async def _prepare(self) -> Client:
        owner = await self._client("owner")
        guild = await owner.ask("POST", "/guilds", {"name": "Chaos"})
        self._guild_id = guild["id"]
        for name in ("one", "two"):
            channel = await owner.ask("POST", f"/guilds/{self._guild_id}/channels", {"name": name})
            self._channel_ids.append(channel["id"])
        invite = await owner.ask("POST", f"/channels/{self._channel_ids[0]}/invites", {"max_age": 0})
        names = [f"writer{number}" for number in range(_WRITERS)]
        names += [f"listener{number}" for number in range(_LISTENERS)]
        members = await asyncio.gather(*map(self._client, names))
        for member in members:
            await member.ask("POST", f"/invites/{invite['code']}", {})
        await asyncio.gather(*(self._client(f"racer{number}") for number in range(_RACERS)))
        self._listeners = [
            Listener(client, number % len(self.topology.urls()), self._guild_id)
            for number, client in enumerate(self._named("listener"))
        ]
        return owner

    async def _client(self, name: str) -> Client:
        client = Client(name, self.history, self.topology.urls, random.Random(self._chance.random()))
        self._clients.append(client)
        await client.register()
        return client

    def _named(self, start: str) -> list[Client]:
        return [client for client in self._clients if client.name.startswith(start)]

    def _work(self, owner: Client) -> list[Any]:
        writers = self._named("writer")
        work = [write_messages(client, self._channel_ids, self._stop_writing) for client in writers]
        work.append(change_roles(owner, self._guild_id, self._stop_writing))
        racers = self._named("racer")
        channel_id = self._channel_ids[0]
        work.append(race_for_invites(owner, racers, channel_id, self._guild_id, self._stop_writing))
        return work

    async def _cause_faults(self, seconds: float, only: tuple[str, ...]) -> None:
        end = time.monotonic() + seconds
        # Each fault once before any a second time.
        waiting: list[str] = []
        while time.monotonic() < end:
            faults = self.topology.faults()
            waiting = [name for name in waiting if name in faults]
            if not waiting:
                waiting = [name for name in faults if not only or name in only]
                self._chance.shuffle(waiting)
            name = waiting.pop()
            await asyncio.sleep(self._chance.uniform(0.5, 2.0))
            fault = Fault(name, time.monotonic())
            self.history.faults.append(fault)
            fault.healed = await self.topology.cause(faults[name])
            self.availability.append(await self._until_recovered(fault))
        await self.topology.until_healthy()

    async def _until_recovered(self, fault: Fault) -> Availability:
        """Wait until each node acknowledges writes and each client receives messages again, or for a minute."""
        listeners = [listener.client.name for listener in self._listeners]
        end = time.monotonic() + _CALM
        while True:
            now = time.monotonic()
            measured = measure(self.history, fault, len(self.topology.urls()), listeners, now)
            if measured.has_recovered or now > end:
                return measured
            await asyncio.sleep(0.1)

    async def _calm_down(self, owner: Client) -> None:
        """Write one more message until each session has it: then it has everything before it."""
        for number in range(100):
            body = {"content": f"calm {number}"}
            path = f"/channels/{self._channel_ids[0]}/messages"
            call = await owner.call(self.history.begin("calm", body["content"], owner.name), "POST", path, body)
            if call.status == 200:
                deadline = time.monotonic() + _CALM / 10
                while time.monotonic() < deadline:
                    if all(_last_content(listener.epoch) == body["content"] for listener in self._listeners):
                        await asyncio.sleep(1)
                        return
                    await asyncio.sleep(0.1)
            if number > 10:
                break
        silent = [
            f"{listener.client.name} on node {listener.node}, whose last message is {_last_content(listener.epoch)!r}"
            for listener in self._listeners
        ]
        raise AssertionError(f"sessions do not hear the newest message: {silent}")

    async def _until(self, true: Any) -> None:
        async with asyncio.timeout(_CALM):
            while not true():  # noqa: ASYNC110 each event of each session would set one
                await asyncio.sleep(0.05)

    async def _read(self, owner: Client, node: int) -> State:
        guild = f"/guilds/{self._guild_id}"
        messages = {channel_id: await self._pages(owner, node, channel_id) for channel_id in self._channel_ids}
        roles = await owner.ask_patiently("GET", f"{guild}/roles", node=node)
        entries: Counter[str] = Counter()
        before = ""
        while True:
            path = f"{guild}/audit-logs?action_type=30&limit=100{before}"
            page = (await owner.ask_patiently("GET", path, node=node))["audit_log_entries"]
            entries.update(entry["target_id"] for entry in page)
            if len(page) < 100:
                break
            before = f"&before={page[-1]['id']}"
        members = await owner.ask_patiently("GET", f"{guild}/members?limit=1000", node=node)
        counted = await owner.ask_patiently("GET", f"{guild}?with_counts=true", node=node)
        ids = frozenset(member["user"]["id"] for member in members)
        assert counted["approximate_member_count"] == len(ids), (counted["approximate_member_count"], len(ids))
        return State(messages, {role["id"]: role["name"] for role in roles}, entries, len(ids), ids)

    async def _pages(self, owner: Client, node: int, channel_id: str) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = []
        after = "0"
        while True:
            path = f"/channels/{channel_id}/messages?limit=100&after={after}"
            page = await owner.ask_patiently("GET", path, node=node)
            if not page:
                return [{key: message[key] for key in ("id", "content", "edited_timestamp")} for message in messages]
            page.sort(key=lambda message: int(message["id"]))
            messages += page
            after = page[-1]["id"]


def _last_content(epoch: Epoch | None) -> str:
    """The content of the newest message that a session received."""
    if epoch is None:
        return ""
    return next((data["content"] for _, name, data in reversed(epoch.events) if name == "MESSAGE_CREATE"), "")


async def run(
    topology: str,
    folder: Path,
    *,
    seconds: float,
    seed: int,
    only: Iterable[str] = (),
    durations: Durations | None = None,
    max_pause: float = MAX_SECONDS,
) -> tuple[Run, Verdict]:
    """Make a topology in a folder and let faults happen to it."""
    made = Run(TOPOLOGIES[topology](folder, random.Random(seed), durations or Durations()), seed)
    return made, await made.act(seconds, only, max_pause)
