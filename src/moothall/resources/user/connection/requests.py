"""Request bodies of connections."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.connection import ConnectionVisibility

Name = Annotated[str, Meta(min_length=1, max_length=limits.CONNECTION_NAME_MAX)]


class PutConnection(Struct, frozen=True, kw_only=True):
    """An account on another service; `name` is its name there."""

    name: Name
    visibility: ConnectionVisibility = ConnectionVisibility.NONE
    show_activity: bool = False


class ModifyConnection(Struct, frozen=True, kw_only=True):
    """Changes to a connection; absent fields stay as they are."""

    name: Name | UnsetType = UNSET
    visibility: ConnectionVisibility | UnsetType = UNSET
    show_activity: bool | UnsetType = UNSET
