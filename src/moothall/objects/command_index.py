"""The commands that somebody may use, as the official clients read them; the public description has none of this."""

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.command import Command
from moothall.objects.ids import ApplicationId, UserId


class IndexedPermissions(Struct, frozen=True, kw_only=True):
    """What a guild says of a command, as far as it concerns the caller; by ids of their roles, and of channels."""

    user: bool | UnsetType = UNSET
    roles: dict[str, bool] | UnsetType = UNSET
    channels: dict[str, bool] | UnsetType = UNSET


class IndexedCommand(Command, frozen=True, kw_only=True):
    """A command in the caller's language."""

    permissions: IndexedPermissions


class IndexedApplication(Struct, frozen=True, kw_only=True):
    """An application that has commands for the caller. Its permissions are for commands that say nothing."""

    id: ApplicationId
    name: str
    description: str
    icon: str | None
    bot_id: UserId
    flags: int
    permissions: IndexedPermissions


class CommandIndex(Struct, frozen=True, kw_only=True):
    """What may be used somewhere. `version` changes whenever a command of it does."""

    applications: list[IndexedApplication]
    application_commands: list[IndexedCommand]
    version: str
