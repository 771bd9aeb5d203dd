"""Bots under test: a client of a Python library in a thread with an event loop of its own."""

import asyncio
import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from time import monotonic, sleep
from typing import Any, Final, TypeVar

from moothall_testing.action import Action
from moothall_testing.bot_clock import BotClock, BotLoop, forget_clock, use_clock
from moothall_testing.bot_errors import (
    BotFailed,
    caught_error,
    forget_thread,
    notice_in_loop,
    notice_in_thread,
)
from moothall_testing.libraries import library_of_client, patched
from moothall_testing.reactions import WITHIN, Act, Scene
from moothall_testing.world import World

T = TypeVar("T")

READY_WITHIN: Final = 30.0
"""Seconds that a bot has until it is ready."""
STOP_WITHIN: Final = 10.0
_LOOK_SECONDS: Final = 0.05
TOKEN_NAMES: Final = ("TOKEN", "BOT_TOKEN", "DISCORD_TOKEN", "DISCORD_BOT_TOKEN", "MOOTHALL_BOT_TOKEN")


class Bot:
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

    def hears(self, said: Act[T], *, within: float = WITHIN) -> Action[T]:
        """Let a person say something aloud once the bot listens where they are, and check that it does to the end."""

        def work() -> T:
            deadline = monotonic() + within
            while not self._listens_to(said.scene):
                if monotonic() > deadline:
                    raise AssertionError(
                        f"{self.name} does not listen: it has to be connected to the voice channel, and not be deaf"
                    )
                sleep(_LOOK_SECONDS)
            result = said.wait()
            if not self._listens_to(said.scene):
                raise AssertionError(f"{self.name} has not listened to the end")
            return result

        return Action(work)

    def _listens_to(self, scene: Scene) -> bool:
        listeners = scene.world.control("GET", f"/voice/listeners?person_id={scene.person_id}")
        return self.id in listeners["user_ids"]


class RunningBot(Bot):
    """A client in a thread with an event loop of its own, from its construction to `stop`.

    `target` is the client, a function that returns one, or `package.module:name` of either. The module is imported
    anew, so that each test has a client of its own. While it is imported, the usual environment variables have the
    bot's token; until it is stopped, its library points at the server.
    """

    def __init__(self, world: World, data: Mapping[str, Any], target: object) -> None:
        super().__init__(data)
        self._world = world
        self._failure: BaseException | None = None
        self._clock = BotClock(world.clock_offset())
        self.loop = BotLoop(self._clock)
        """The bot's event loop, whose timers `advance` moves."""
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
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(within)

    def stop(self) -> None:
        """Disconnect and end the thread. Does nothing the second time."""
        # The task is made in the bot's thread: a bot may end by itself at any moment, and its event loop with it.
        with suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._begin_closing)
        self._thread.join(STOP_WITHIN)
        self._patches.close()
        closing, self._closing = self._closing, None
        if closing is not None and closing.done() and not closing.cancelled():
            with suppress(TimeoutError, RuntimeError):
                closing.result()

    def _begin_closing(self) -> None:
        if not self._ended and self._closing is None:
            self._closing = self.loop.create_task(self._close())
            self._closing.add_done_callback(lambda _: self._cancel_client())

    async def _close(self) -> None:
        async with asyncio.timeout(STOP_WITHIN / 2):
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
                why = "" if self._failure is None else f": {caught_error(self.name, self._failure).summary}"
                raise BotFailed(f"the bot {self.name} ended before it was ready{why}") from self._failure
            if monotonic() > deadline:
                self.stop()
                raise BotFailed(f"the bot {self.name} was not ready within {READY_WITHIN:g} s")

    def _notice(self, error: BaseException) -> None:
        self._world.report_error(caught_error(self.name, error))

    def _run(self, target: object) -> None:
        use_clock(self._clock)
        notice_in_thread(threading.get_ident(), self._notice)
        notice_in_loop(self.loop, self._notice)
        asyncio.set_event_loop(self.loop)  # disnake's clients ask for it when they are made
        try:
            # Clients of hikari read the URL when they are made, all others when they connect.
            if importlib.util.find_spec("hikari") is not None:
                self._patches.enter_context(patched("hikari", self._world.info["url"]))
            self.client = self._build(target)
            self._patches.enter_context(patched(library_of_client(self.client), self._world.info["url"]))
            self.loop.run_until_complete(self._live())
            if self._closing is not None:
                self.loop.run_until_complete(asyncio.wait({self._closing}))
        except asyncio.CancelledError:
            pass
        except BaseException as error:  # noqa: BLE001 raised where the test waits for it
            self._failure = error
            if self._ready.is_set():
                self._notice(error)
        finally:
            self._ended = True
            self._cancel_all()
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
            self.loop.close()
            forget_thread(threading.get_ident())
            forget_clock(self._clock)

    async def _live(self) -> None:
        library = library_of_client(self.client)
        if library == "hikari":
            await self.client.start(check_for_updates=False)
            self._ready.set()
            await self.client.join()
            return
        if library == "interactions.py":
            self._notice_logged_text()
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

    def _notice_logged_text(self) -> None:
        """Notice the errors that interactions.py logs as text."""
        log = self.client.default_error_handler

        def handle(source: str, error: BaseException) -> None:
            self._notice(error)
            log(source, error)

        self.client.default_error_handler = handle

    def _cancel_client(self) -> None:
        if not self._ended:
            self._cancel_all()

    def _cancel_all(self) -> None:
        for task in asyncio.all_tasks(self.loop):
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
    os.environ.update(dict.fromkeys(TOKEN_NAMES, token), MOOTHALL_API_URL=info["api_url"])
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
