"""Snowflakes: 64-bit ids, integers in memory and strings on the wire.

An id consists of 41 bits of milliseconds since 2015-01-01, 5 bits of worker, 5 bits of process and a 12-bit sequence.
Every resource has its own id type, so that the type checker refuses, for example, a user's id in place of a guild's.
"""

from collections.abc import Callable
from typing import NewType, Self

from moothall.objects.clock import CLOCK

EPOCH_MS = 1_420_070_400_000
"""Milliseconds between the Unix epoch and the first possible snowflake."""

_SEQUENCE_BITS = 12
_NODE_BITS = 10
_SEQUENCE_MASK = (1 << _SEQUENCE_BITS) - 1
MAX_ID = (1 << 63) - 1
"""The greatest id that a database stores: comes after all others."""
LAST_MS = (MAX_ID >> (_NODE_BITS + _SEQUENCE_BITS)) + EPOCH_MS
"""Milliseconds between the Unix epoch and the last possible snowflake, in September 2084."""


class Snowflake(int):
    """An id. A wire scalar: a string in responses, a string or a number in requests."""

    __slots__ = ()

    def wire(self) -> str:
        """The form in responses: a decimal string."""
        return str(int(self))

    @classmethod
    def from_wire(cls, value: object) -> Self:
        """Read an id from a request.

        Raises ValueError if it is not an integer of at most 63 bits.
        """
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 20:
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_ID:
            return cls(value)
        raise ValueError(f"Value {_shown(value)} is not snowflake.")

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Read an id from a text that may be something else; None if it is."""
        try:
            return cls.from_wire(text)
        except ValueError:
            return None

    @property
    def created_ms(self) -> int:
        """The moment of the id's creation, in milliseconds since the Unix epoch."""
        return (self >> (_NODE_BITS + _SEQUENCE_BITS)) + EPOCH_MS


GuildId = NewType("GuildId", Snowflake)
JoinRequestId = NewType("JoinRequestId", Snowflake)
ChannelId = NewType("ChannelId", Snowflake)
RoleId = NewType("RoleId", Snowflake)
UserId = NewType("UserId", Snowflake)
MessageId = NewType("MessageId", Snowflake)
WebhookId = NewType("WebhookId", Snowflake)
ApplicationId = NewType("ApplicationId", Snowflake)
IntegrationId = NewType("IntegrationId", Snowflake)
AuthorizationId = NewType("AuthorizationId", Snowflake)
TeamId = NewType("TeamId", Snowflake)
CommandId = NewType("CommandId", Snowflake)
InteractionId = NewType("InteractionId", Snowflake)
EmojiId = NewType("EmojiId", Snowflake)
StickerId = NewType("StickerId", Snowflake)
SoundId = NewType("SoundId", Snowflake)
PackId = NewType("PackId", Snowflake)
AttachmentId = NewType("AttachmentId", Snowflake)
AuditEntryId = NewType("AuditEntryId", Snowflake)
TagId = NewType("TagId", Snowflake)
ScheduledEventId = NewType("ScheduledEventId", Snowflake)
StageInstanceId = NewType("StageInstanceId", Snowflake)
ActivityInstanceId = NewType("ActivityInstanceId", Snowflake)
QuickLinkId = NewType("QuickLinkId", Snowflake)
SkuId = NewType("SkuId", Snowflake)
EntitlementId = NewType("EntitlementId", Snowflake)
SubscriptionId = NewType("SubscriptionId", Snowflake)
RuleId = NewType("RuleId", Snowflake)

NO_USER = UserId(Snowflake(0))
"""No user has this id: stands for who is not logged in, and comes before all others."""


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def snowflake_at(ms: int) -> Snowflake:
    """The smallest id created at a moment (milliseconds since the Unix epoch), for range scans by time.

    Of a moment later than `LAST_MS` it is too large to be stored or read.
    """
    return Snowflake(max(0, ms - EPOCH_MS) << (_NODE_BITS + _SEQUENCE_BITS))


class SnowflakeFactory:
    """Creates ids that are unique and strictly ascending within the process.

    If the clock steps back, ids continue from the last millisecond used; if the sequence of a millisecond is exhausted,
    they continue in the next one. Neither blocks.
    """

    __slots__ = ("_clock", "_last", "_node")

    def __init__(self, *, worker: int = 0, process: int = 0, clock: Callable[[], int] = CLOCK.now_ms) -> None:
        self._clock = clock
        self._last = 0
        self.renumber(worker=worker, process=process)

    def renumber(self, *, worker: int, process: int) -> None:
        """Set the worker and process numbers of further ids. Raises ValueError for numbers out of range."""
        if not (0 <= worker < 32 and 0 <= process < 32):
            raise ValueError("worker and process are 0 to 31")
        self._node = ((worker << 5) | process) << _SEQUENCE_BITS

    def begin_after(self, newest: Snowflake) -> float:
        """Create no id that is older than `newest`, also if the clock is behind it by the seconds that are returned."""
        moment = newest >> (_NODE_BITS + _SEQUENCE_BITS)
        self._last = max(self._last, moment << _SEQUENCE_BITS | _SEQUENCE_MASK)
        return max(0.0, (moment + EPOCH_MS - self._clock()) / 1000)

    def next(self) -> Snowflake:
        """Create a new id."""
        # _last holds the milliseconds and the sequence together, so adding one carries into the next millisecond.
        now = (self._clock() - EPOCH_MS) << _SEQUENCE_BITS
        self._last = now if now > self._last else self._last + 1
        moment, sequence = self._last >> _SEQUENCE_BITS, self._last & _SEQUENCE_MASK
        return Snowflake((moment << (_NODE_BITS + _SEQUENCE_BITS)) | self._node | sequence)
