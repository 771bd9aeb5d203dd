"""Bots under test: a client of a Python library in a thread with an event loop of its own, or any other process."""

import asyncio
import importlib
import importlib.util
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from time import monotonic
from typing import Any, Final

from moothall_testing.libraries import library_of_client, patched
from moothall_testing.waiting import Follower
from moothall_testing.world import World

READY_WITHIN: Final = 30.0
"""Seconds that a bot has until it is ready."""
_STOP_WITHIN: Final = 10.0
_TOKEN_NAMES: Final = ("TOKEN", "BOT_TOKEN", "DISCORD_TOKEN", "DISCORD_BOT_TOKEN", "MOOTHALL_BOT_TOKEN")


class BotFailed(AssertionError):
    """A bot ended, or was not ready in time."""


class _Bot:
    """What all bots under test have."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.id = str(data["id"])
        self.application_id = str(data["application_id"])
        self.name = str(data["name"])
        self.token = str(data["token"])

    @property
    def mention(self) -> str:
        """The text that mentions the bot."""
        return f"<@{self.id}>"


class RunningBot(_Bot):
    """A client in a thread with an event loop of its own, from its construction to `stop`.

    `target` is the client, a function that returns one, or `package.module:name` of either. The module is imported
    anew, so that each test has a client of its own. While it is imported, the usual environment variables have the
    bot's token; until it is stopped, its library points at the server.
    """

    def __init__(self, world: World, data: Mapping[str, Any], target: object) -> None:
        super().__init__(data)
        self._world = world
        self._failure: BaseException | None = None
        self._loop = asyncio.new_event_loop()
        self.client: Any = None
        """The library's client. It belongs to another thread: `run` a coroutine on it there."""
        self._ready = threading.Event()
        self._closing: asyncio.Task[None] | None = None
        self._ended = False
        """Whether the client has ended, and the event loop is about to be closed."""
        self._patches = ExitStack()
        self._thread = threading.Thread(target=self._run, args=(target,), name=f"bot {self.name}", daemon=True)
        self._thread.start()
        self._wait_until_ready()

    def run(self, coroutine: Any, *, within: float = 10.0) -> Any:
        """Run a coroutine in the bot's event loop and return its result."""
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(within)

    def stop(self) -> None:
        """Disconnect and end the thread. Does nothing the second time."""
        # The task is made in the bot's thread: a bot may end by itself at any moment, and its event loop with it.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._begin_closing)
        self._thread.join(_STOP_WITHIN)
        self._patches.close()
        closing, self._closing = self._closing, None
        if closing is not None and closing.done() and not closing.cancelled():
            with suppress(TimeoutError, RuntimeError):
                closing.result()

    def _begin_closing(self) -> None:
        if not self._ended and self._closing is None:
            self._closing = self._loop.create_task(self._close())
            self._closing.add_done_callback(lambda _: self._cancel_client())

    async def _close(self) -> None:
        async with asyncio.timeout(_STOP_WITHIN / 2):
            if library_of_client(self.client) == "interactions.py":
                await _stop_interactions(self.client)
            else:
                await self.client.close()

    def _build(self, target: object) -> Any:
        if isinstance(target, str):
            with _environment(self.token, self._world.info):
                module, _, name = target.partition(":")
                if not name:
                    raise ValueError(f"{target}: name the client as well, like mybot.main:client")
                sys.modules.pop(module, None)
                target = importlib.import_module(module)
                for each in name.split("."):
                    target = getattr(target, each)
                return target() if callable(target) and not hasattr(target, "start") else target
        return target() if callable(target) and not hasattr(target, "start") else target

    def _wait_until_ready(self) -> None:
        deadline = monotonic() + READY_WITHIN
        while not self._ready.wait(0.02):
            if self._failure is not None or not self._thread.is_alive():
                self.stop()
                lines = "" if self._failure is None else "".join(traceback.format_exception(self._failure))
                raise BotFailed(f"the bot {self.name} ended before it was ready\n{lines}") from self._failure
            if monotonic() > deadline:
                self.stop()
                raise BotFailed(f"the bot {self.name} was not ready within {READY_WITHIN:g} s")

    def _run(self, target: object) -> None:
        asyncio.set_event_loop(self._loop)  # disnake's clients ask for it when they are made
        try:
            # Clients of hikari read the URL when they are made, all others when they connect.
            if importlib.util.find_spec("hikari") is not None:
                self._patches.enter_context(patched("hikari", self._world.info["url"]))
            self.client = self._build(target)
            self._patches.enter_context(patched(library_of_client(self.client), self._world.info["url"]))
            self._loop.run_until_complete(self._live())
            if self._closing is not None:
                self._loop.run_until_complete(asyncio.wait({self._closing}))
        except asyncio.CancelledError:
            pass
        except BaseException as error:  # noqa: BLE001 raised where the test waits for it
            self._failure = error
        finally:
            self._ended = True
            self._cancel_all()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.close()

    async def _live(self) -> None:
        library = library_of_client(self.client)
        if library == "hikari":
            await self.client.start(check_for_updates=False)
            self._ready.set()
            await self.client.join()
            return
        if library == "interactions.py":
            living = asyncio.ensure_future(self.client.astart(self.token))
            watching = asyncio.ensure_future(self.client.wait_until_ready())
        else:
            state: Any = getattr(self.client, "_connection", None)
            if hasattr(state, "guild_ready_timeout"):
                # The library waits two seconds for more guilds before it is ready; here none comes late.
                state.guild_ready_timeout = 0.05
            living = asyncio.ensure_future(self.client.start(self.token))
            watching = asyncio.ensure_future(_ready_of(self.client))
        await asyncio.wait({living, watching}, return_when=asyncio.FIRST_COMPLETED)
        if watching.done() and not living.done():
            await watching
            self._ready.set()
        watching.cancel()
        await living

    def _cancel_client(self) -> None:
        if not self._ended:
            self._cancel_all()

    def _cancel_all(self) -> None:
        for task in asyncio.all_tasks(self._loop):
            task.cancel()


async def _stop_interactions(client: Any) -> None:
    """Stop a client of interactions.py.

    Its own `stop` closes the HTTP session before the gateway's connections, which then read without end and keep the
    processor busy. Closed first, they end.
    """
    for state in getattr(client, "_connection_states", None) or [client._connection_state]:  # noqa: SLF001 as `stop` does
        await state.stop()
    await client.stop()


async def _ready_of(client: Any) -> None:
    """Wait until a client of discord.py or a descendant is ready: it has no event for that before it logs in."""
    while True:
        try:
            await client.wait_until_ready()
        except RuntimeError:
            await asyncio.sleep(0.01)
        else:
            return


@contextmanager
def _environment(token: str, info: Mapping[str, Any]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(dict.fromkeys(_TOKEN_NAMES, token), MOOTHALL_API_URL=info["api_url"])
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class RunningProcess(_Bot):
    """A bot as a process of its own, in any language: ready once it is connected to the gateway, ended with `stop`.

    It finds its token in `TOKEN`, `BOT_TOKEN` and `DISCORD_TOKEN`, and the server in `MOOTHALL_API_URL` and
    `MOOTHALL_GATEWAY_URL`.
    """

    def __init__(
        self,
        world: World,
        data: Mapping[str, Any],
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        ready: Callable[[], bool] | None = None,
    ) -> None:
        super().__init__(data)
        follower = Follower(world.server)
        variables = {
            **os.environ,
            **dict.fromkeys(_TOKEN_NAMES, self.token),
            "MOOTHALL_URL": world.info["url"],
            "MOOTHALL_API_URL": world.info["api_url"],
            "MOOTHALL_GATEWAY_URL": world.info["gateway_url"],
            "MOOTHALL_APPLICATION_ID": self.application_id,
            "MOOTHALL_PUBLIC_KEY": str(data["public_key"]),
            **(environment or {}),
        }
        self._process = subprocess.Popen(  # noqa: S603 the test's command
            list(command), env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.output: list[str] = []
        """What it has printed, by lines."""
        self._reader = threading.Thread(target=self._read, name=f"bot {self.name}", daemon=True)
        self._reader.start()
        try:
            if ready is None:
                follower.until(
                    lambda entry: _is_ready(entry, self.name), within=READY_WITHIN, what="READY", ended=self._has_ended
                )
            else:
                self._poll(ready)
        except AssertionError as error:
            self.stop()
            raise BotFailed(f"{error}\n{''.join(self.output)}") from None

    def stop(self) -> None:
        """End it. Does nothing the second time."""
        if not self._has_ended():
            self._process.terminate()
        try:
            self._process.wait(_STOP_WITHIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._reader.join(_STOP_WITHIN)

    def _has_ended(self) -> bool:
        return self._process.poll() is not None

    def _read(self) -> None:
        if self._process.stdout is not None:
            with self._process.stdout as stream:
                self.output.extend(stream)

    def _poll(self, ready: Callable[[], bool]) -> None:
        deadline, pause = monotonic() + READY_WITHIN, threading.Event()
        while not ready():
            if self._has_ended() or monotonic() > deadline:
                raise AssertionError(f"the bot {self.name} is not ready")
            pause.wait(0.05)


def _is_ready(entry: Mapping[str, Any], name: str) -> bool:
    return bool(entry["kind"] == "dispatch" and entry["name"] == "READY" and entry["actor"] == name)
