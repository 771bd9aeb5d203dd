"""Request bodies of read states."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.ids import Snowflake
from moothall.objects.read_state import ReadStateFlags, ReadStateType

_ALL_FLAGS = int(~ReadStateFlags(0))
_Flags = Annotated[int, Meta(ge=0, le=_ALL_FLAGS)]
_Days = Annotated[int, Meta(ge=0, le=1_000_000)]
_Count = Annotated[int, Meta(ge=0, le=1_000_000)]


class AckMessage(Struct, frozen=True, kw_only=True):
    """How far a channel is read. `mention_count` counts only with `manual`; absent fields keep their value."""

    token: Any = None
    """Ignored: tokens are no longer used."""
    manual: bool = False
    mention_count: _Count | UnsetType | None = UNSET
    flags: _Flags | UnsetType | None = UNSET
    last_viewed: _Days | UnsetType | None = UNSET


class AckFeature(Struct, frozen=True, kw_only=True):
    """The body of the acknowledgement of a feature."""

    token: Any = None
    """Ignored: tokens are no longer used."""


class ReadStateUpdate(Struct, frozen=True, kw_only=True):
    """One read state of a bulk update."""

    channel_id: Snowflake
    """The channel, guild or user."""
    message_id: Snowflake
    """The newest message or other entity that is read; 0 is ignored."""
    read_state_type: ReadStateType = ReadStateType.CHANNEL


class AckBulk(Struct, frozen=True, kw_only=True):
    """Several read states to update."""

    read_states: Annotated[list[ReadStateUpdate], Meta(max_length=limits.READ_STATES_AT_ONCE)]


class DeleteReadState(Struct, frozen=True, kw_only=True):
    """The type of the read state to delete."""

    read_state_type: ReadStateType = ReadStateType.CHANNEL
    version: int = 2
    """The version of the protocol that the client implements."""
