"""The envelope of an event: the encoded payload, and all that a gateway node needs to route it."""

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Protocol

from msgspec import Raw, Struct, field


class Audience(IntEnum):
    """Who may hear an event."""

    GUILD = 1
    """Every session in the guild."""
    CHANNEL = 2
    """Sessions whose user may view the channel; for a direct message channel, `user_ids`."""
    USERS = 3
    """Every session of the users named; with a channel of a guild, those whose user may view it."""
    NODE = 4
    """Gateway nodes themselves: a control message, never dispatched."""


class Envelope(Struct, array_like=True, omit_defaults=True):
    """One event on its way to the gateway, encoded once for all who hear it."""

    name: str
    """The dispatch name, such as GUILD_UPDATE."""
    data: Raw
    """JSON of the dispatch's `d`."""
    audience: Audience
    guild_id: int = 0
    channel_id: int = 0
    """The channel whose overwrites decide; for a thread its parent."""
    thread_id: int = 0
    user_ids: list[int] = field(default_factory=list)
    intent: int = 0
    """Intent bits, any one of which lets a session hear the event; 0 is always heard."""
    permission: int = 0
    """Bits that the hearer needs in the channel (CHANNEL) or the guild (GUILD)."""
    stripped: Raw | None = None
    """`data` for sessions without the MESSAGE_CONTENT intent."""
    exempt: list[int] = field(default_factory=list)
    """Users who get `data` whatever their intents (authors, those mentioned)."""


class BusUnavailable(Exception):
    """What was to be published has not certainly arrived; publishing it again does no harm."""


class Bus(Protocol):
    """Carries envelopes from the pipeline to every gateway node, in the order published."""

    durable: bool
    """Whether other processes hear it, so that an event must outlive this one: it is left in the outbox."""

    def publish(self, envelopes: Sequence[Envelope]) -> None:
        """Hand on what a committed transaction emitted. Never blocks."""

    def subscribe(self, hear: Callable[[Sequence[Envelope]], None]) -> None:
        """Call `hear` on this process's event loop with each published batch, in order."""

    async def start(self) -> None:
        """Connect."""

    async def close(self) -> None:
        """Publish what is queued and disconnect."""


class SharedBus(Bus, Protocol):
    """A bus that carries what lies in the outbox to every process."""

    @property
    def connected(self) -> bool:
        """Whether `deliver` has any prospect now."""

    async def deliver(self, events: Sequence[tuple[int, bytes]]) -> None:
        """Hand on encoded envelopes by their numbers in the outbox, in order; returns once all of them are kept.

        A number that was delivered before is heard once all the same. Raises BusUnavailable; then some of them may
        have been kept.
        """
