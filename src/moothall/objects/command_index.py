"""The command index: the commands that a user may use, as official clients read them (not in the public reference)."""

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.command import Command
from moothall.objects.ids import ApplicationId, UserId


class IndexedPermissions(Struct, frozen=True, kw_only=True):
    """A guild's permissions of a command for the caller: by the ids of their roles and of channels."""

    user: bool | UnsetType = UNSET
    roles: dict[str, bool] | UnsetType = UNSET
    channels: dict[str, bool] | UnsetType = UNSET


class IndexedCommand(Command, frozen=True, kw_only=True):
    """A command with texts in the caller's locale."""

    permissions: IndexedPermissions


class IndexedApplication(Struct, frozen=True, kw_only=True):
    """An application with commands for the caller. Its permissions apply to commands without their own."""

    id: ApplicationId
    name: str
    description: str
    icon: str | None
    bot_id: UserId
    flags: int
    permissions: IndexedPermissions


class CommandIndex(Struct, frozen=True, kw_only=True):
    """The commands that can be used in a channel or guild. `version` changes whenever one of the commands does."""

    applications: list[IndexedApplication]
    application_commands: list[IndexedCommand]
    version: str
