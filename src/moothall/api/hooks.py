"""Hooks: points at which an operation of a lower room calls handlers of higher rooms.

A room that deletes or changes an object declares the hook and calls it inside its transaction. A higher room, which the
first one must not import, registers a handler, with the events that it may fire. An endpoint that declares the hook in
its `fires` declares those events:

    CHANNEL_DELETING = Hook[[Context, Channel], None]("channel deleting")      # resources/channel
    CHANNEL_DELETING.register(delete_channel_invites, fires=(InviteDelete,))   # resources/invite/hooks.py

`load_endpoints` imports the `hooks` module of every room before any request is served.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Generic, ParamSpec, TypeVar

from moothall.api.events import Event

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
        """Add a handler and the events it may fire. Raises RuntimeError once `fires` has been read."""
        if self._read:
            raise RuntimeError(f"the hook {self.name} is in use: register handlers in a room's `hooks` module")
        self._handlers.append((order, handler))
        self._handlers.sort(key=lambda entry: entry[0])
        self._fires.extend(fires)

    @property
    def fires(self) -> frozenset[type[Event]]:
        """The events that handlers may fire. No handler can be registered after reading it."""
        self._read = True
        return declared_events(self._fires)

    async def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Call every handler. An exception of a handler is raised, and ends the calls."""
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
"""What an endpoint declares to fire: events, and hooks for the events of their handlers."""


def declared_events(fires: Iterable[type[Event] | AnyHook]) -> frozenset[type[Event]]:
    """The event classes of a declaration, those of its hooks' handlers included."""
    events: set[type[Event]] = set()
    for each in fires:
        events.update(each.fires if isinstance(each, Hook) else (each,))
    return frozenset(events)
