"""Hooks: points at which an operation lets the rooms above it take part.

A room that ends or changes an object declares the hook and calls it inside its transaction; a room above, which the
first one must not import, registers what it does then, with the events that it may fire. A row that declares the hook
among what it fires declares those events:

    CHANNEL_DELETING = Hook[[Context, Channel], None]("channel deleting")      # resources/channel
    CHANNEL_DELETING.register(delete_channel_invites, fires=(InviteDelete,))   # resources/invite/hooks.py

`load_endpoints` imports the `hooks` module of every room before anything is served.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Generic, ParamSpec, TypeVar

from moothall.kernel.events import Event

P = ParamSpec("P")
T = TypeVar("T")


class Hook(Generic[P, T]):
    """The handlers of one hook, called one after another in ascending `order`, then in order of registration."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._handlers: list[tuple[int, Callable[P, Awaitable[T]]]] = []
        self._fires: list[type[Event] | AnyHook] = []
        self._read = False

    def register(
        self, handler: Callable[P, Awaitable[T]], *, fires: "Iterable[type[Event] | AnyHook]" = (), order: int = 0
    ) -> None:
        """Add a handler and the events it may fire. Raises RuntimeError once a row's events have been read."""
        if self._read:
            raise RuntimeError(f"the hook {self.name} is in use: register handlers in a room's `hooks` module")
        self._handlers.append((order, handler))
        self._handlers.sort(key=lambda entry: entry[0])
        self._fires.extend(fires)

    @property
    def fires(self) -> frozenset[type[Event]]:
        """The events that handlers may fire; no handler can be registered from now on."""
        self._read = True
        return declared_events(self._fires)

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call every handler. Raises what the first one to refuse raises."""
        for _, handler in self._handlers:
            await handler(*args, **kwargs)

    async def first(self, *args: P.args, **kwargs: P.kwargs) -> T | None:
        """Call handlers until one returns a result; None if none does."""
        for _, handler in self._handlers:
            result = await handler(*args, **kwargs)
            if result is not None:
                return result
        return None


AnyHook = Hook[..., Any]
Fires = tuple[type[Event] | AnyHook, ...]
"""What a row declares to fire: events, and hooks for the events of their handlers."""


def declared_events(fires: Iterable[type[Event] | AnyHook]) -> frozenset[type[Event]]:
    """The event classes of a declaration, those of its hooks' handlers included."""
    events: set[type[Event]] = set()
    for each in fires:
        events.update(each.fires if isinstance(each, Hook) else (each,))
    return frozenset(events)
