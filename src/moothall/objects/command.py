"""Application commands (interactions: application commands)."""

import unicodedata
from enum import IntEnum
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import ApplicationId, CommandId, GuildId, Snowflake
from moothall.objects.permissions import PermissionSet

Localizations = dict[str, str]
"""Translations by locale code."""


class CommandType(IntEnum):
    """The type of a command."""

    CHAT_INPUT = 1
    USER = 2
    MESSAGE = 3
    PRIMARY_ENTRY_POINT = 4


class OptionType(IntEnum):
    """The type of an option's value."""

    SUB_COMMAND = 1
    SUB_COMMAND_GROUP = 2
    STRING = 3
    INTEGER = 4
    BOOLEAN = 5
    USER = 6
    CHANNEL = 7
    ROLE = 8
    MENTIONABLE = 9
    NUMBER = 10
    ATTACHMENT = 11


class EntryPointHandler(IntEnum):
    """The handler of an entry point command."""

    APP_HANDLER = 1
    LAUNCH_ACTIVITY = 2


class InteractionContext(IntEnum):
    """The context of an interaction."""

    GUILD = 0
    BOT_DM = 1
    PRIVATE_CHANNEL = 2


class CommandPermissionType(IntEnum):
    """The type of a command permission's target."""

    ROLE = 1
    USER = 2
    CHANNEL = 3


SUBCOMMANDS: Final = frozenset({OptionType.SUB_COMMAND, OptionType.SUB_COMMAND_GROUP})
CHOICE_OPTION_TYPES: Final = frozenset({OptionType.STRING, OptionType.INTEGER, OptionType.NUMBER})
"""The option types that may have choices or autocomplete."""


class Choice(Struct, frozen=True, kw_only=True):
    """A value that an option offers."""

    name: str
    name_localized: str | UnsetType = UNSET
    name_localizations: Localizations | UnsetType | None = UNSET
    value: str | int | float


class Option(Struct, frozen=True, kw_only=True):
    """A parameter of a command, a subcommand or a subcommand group."""

    type: int
    name: str
    name_localized: str | UnsetType = UNSET
    name_localizations: Localizations | UnsetType | None = UNSET
    description: str
    description_localized: str | UnsetType = UNSET
    description_localizations: Localizations | UnsetType | None = UNSET
    required: bool | UnsetType = UNSET
    choices: list[Choice] | UnsetType = UNSET
    options: "list[Option] | UnsetType" = UNSET
    channel_types: list[int] | UnsetType = UNSET
    min_value: int | float | UnsetType = UNSET
    max_value: int | float | UnsetType = UNSET
    min_length: int | UnsetType = UNSET
    max_length: int | UnsetType = UNSET
    autocomplete: bool | UnsetType = UNSET
    file_types: list[str] | UnsetType = UNSET


class Command(Struct, frozen=True, kw_only=True):
    """A command of an application. Global commands have no `guild_id`; only they have `contexts`.

    Localizations are present if requested; otherwise the `..._localized` fields have the texts in the caller's locale.
    """

    id: CommandId
    application_id: ApplicationId
    version: Snowflake
    default_member_permissions: PermissionSet | None = None
    type: int = CommandType.CHAT_INPUT
    name: str
    name_localized: str | UnsetType = UNSET
    name_localizations: Localizations | UnsetType | None = UNSET
    description: str = ""
    description_localized: str | UnsetType = UNSET
    description_localizations: Localizations | UnsetType | None = UNSET
    guild_id: GuildId | UnsetType = UNSET
    dm_permission: bool | UnsetType = UNSET
    contexts: list[int] | UnsetType | None = UNSET
    integration_types: list[int] | UnsetType = UNSET
    options: list[Option] | UnsetType = UNSET
    nsfw: bool = False
    handler: int | UnsetType = UNSET


class CommandPermission(Struct, frozen=True, kw_only=True):
    """Whether a role, user or channel may use a command.

    The guild's id means @everyone, the guild's id minus one all channels.
    """

    id: Snowflake
    type: CommandPermissionType
    permission: bool


class CommandPermissions(Struct, frozen=True, kw_only=True):
    """A guild's permissions of a command.

    The application's id stands for all commands without permissions of their own.
    """

    id: Snowflake
    application_id: ApplicationId
    guild_id: GuildId
    permissions: list[CommandPermission]


_SCRIPTS: Final = (range(0x0900, 0x0980), range(0xA8E0, 0xA900), range(0x0E00, 0x0E80))
"""Characters of Devanagari and Thai, whose vowel signs are combining marks."""


def is_slash_name(name: str) -> bool:
    """Whether a name is valid for a slash command or option: letters, numbers, `-`, `_` and `'` in lower case."""
    for character in name:
        if character in "-_'" or unicodedata.category(character)[0] in "LN":
            continue
        if not any(ord(character) in script for script in _SCRIPTS):
            return False
    return name == name.lower()
