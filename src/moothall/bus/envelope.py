"""The envelope of an event: its encoded payload, and the routing that a gateway node needs."""

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Protocol

from msgspec import Raw, Struct, field

from moothall.bus.batches import BatchNumbers
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.runtime.invariants import BrokenInvariant


class Audience(IntEnum):
    """Which sessions receive an event."""

    GUILD = 1
    """Every session in the guild."""
    CHANNEL = 2
    """Sessions whose user may view the channel; for a direct message channel, `user_ids`."""
    USERS = 3
    """Every session of `user_ids`; with a channel of a guild, only of those users who may view it."""
    NODE = 4
    """Gateway nodes themselves: a control message, never dispatched."""


class Envelope(Struct, array_like=True, omit_defaults=True):
    """One event on its way to the gateway, encoded once for all sessions that receive it."""

    name: str
    """The dispatch name, such as GUILD_UPDATE."""
    data: Raw
    """JSON of the dispatch's `d`."""
    audience: Audience
    guild_id: GuildId | None = None
    channel_id: ChannelId | None = None
    """The channel whose overwrites apply; for a thread its parent."""
    thread_id: ChannelId | None = None
    user_ids: list[UserId] = field(default_factory=list)
    intent: int = 0
    """Intent bits; a session needs one of them. 0 needs none."""
    permission: int = 0
    """Permission bits of which the user needs one, in the channel (CHANNEL) or the guild (GUILD). 0 needs none."""
    stripped: Raw | None = None
    """`data` for sessions without the MESSAGE_CONTENT intent."""
    exempt: list[UserId] = field(default_factory=list)
    """Users whose sessions receive `data` whatever their intents: the author and mentioned users."""
    state_version: int = 0
    """The number of an event by which nodes keep the state of its guild, without a gap: what tells whether a state that
    was read has the change already.

    0 for other events, and for those that earlier versions left in the outbox.
    """


class BusUnavailable(Exception):
    """Publishing failed, or its outcome is unknown. Publishing the same events again is safe."""


def require_routes(envelopes: Sequence[Envelope]) -> None:
    """Raise BrokenInvariant for an event that says no guild or channel whose sessions receive it: none would."""
    for envelope in envelopes:
        if (envelope.audience is Audience.GUILD and envelope.guild_id is None) or (
            envelope.audience is Audience.CHANNEL and envelope.channel_id is None
        ):
            raise BrokenInvariant(f"{envelope.name} has an audience without its id")


Receive = Callable[[Sequence[Envelope]], None]


class Bus(Protocol):
    """Carries envelopes from the pipeline to every gateway node, in the order published."""

    durable: bool
    """Whether events survive a crash of this process, because they go through the transactional outbox."""
    shared: bool
    """Whether other processes subscribe too."""

    def publish(self, envelopes: Sequence[Envelope]) -> None:
        """Publish the events of a committed transaction. Never blocks."""

    def subscribe(
        self,
        receive: Receive,
        *,
        on_gap: Callable[[], None] | None = None,
        on_reconnect: Callable[[], None] | None = None,
    ) -> None:
        """Call `receive` on this process's event loop with each published batch, in order.

        `on_gap` is called when envelopes were published that this process can never receive, `on_reconnect`
        when the server is reachable again.
        """

    async def start(self, space: str = ...) -> None:
        """Connect. Platforms that share a server have a different `space` each (ASCII letters and digits)."""

    async def close(self) -> None:
        """Publish what is queued and disconnect."""


class SharedBus(Bus, Protocol):
    """A bus that carries the events of the outbox to every process."""

    @property
    def connected(self) -> bool:
        """Whether the server is reachable, so that `deliver` may succeed."""

    async def deliver(self, events: Sequence[tuple[int, bytes]], batch: BatchNumbers) -> None:
        """Publish encoded envelopes by their numbers in the outbox, in order; returns once all are stored.

        `batch` has the numbers by which subscribers notice that a whole batch is missing. Subscribers receive the
        number of an envelope once, even if it is delivered twice. Raises BusUnavailable; some of the events may have
        been stored even so.
        """
