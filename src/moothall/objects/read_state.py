"""Read states: how far a user has read a channel or another feature (topics: read state)."""

from enum import IntEnum, IntFlag
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp


class ReadStateType(IntEnum):
    """What a read state belongs to."""

    CHANNEL = 0
    GUILD_EVENT = 1
    NOTIFICATION_CENTER = 2
    GUILD_HOME = 3
    GUILD_ONBOARDING_QUESTION = 4
    MESSAGE_REQUESTS = 5


GUILD_FEATURES: Final = frozenset(
    {ReadStateType.GUILD_EVENT, ReadStateType.GUILD_HOME, ReadStateType.GUILD_ONBOARDING_QUESTION}
)
"""Types whose resource is a guild."""
USER_FEATURES: Final = frozenset({ReadStateType.NOTIFICATION_CENTER, ReadStateType.MESSAGE_REQUESTS})
"""Types whose resource is the user."""


class ReadStateFlags(IntFlag):
    """The bits of a channel's `flags`."""

    IS_GUILD_CHANNEL = 1 << 0
    IS_THREAD = 1 << 1
    IS_MENTION_LOW_IMPORTANCE = 1 << 2


class ReadState(Struct, frozen=True, kw_only=True):
    """A read state as READY has it. Channels have messages and mentions, other types entities and badges."""

    id: Snowflake
    read_state_type: ReadStateType | UnsetType = UNSET
    """Absent for channels."""
    last_message_id: Snowflake | UnsetType = UNSET
    last_acked_id: Snowflake | UnsetType = UNSET
    mention_count: int | UnsetType = UNSET
    badge_count: int | UnsetType = UNSET
    last_pin_timestamp: Timestamp | UnsetType | None = UNSET
    flags: int | UnsetType = UNSET
    last_viewed: int | UnsetType | None = UNSET


class AckToken(Struct, frozen=True):
    """The response to an acknowledgement. Tokens are no longer used."""

    token: str | None = None
