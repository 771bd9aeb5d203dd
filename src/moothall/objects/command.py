"""Application commands (interactions: application commands)."""

import unicodedata
from enum import IntEnum
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import ApplicationId, CommandId, GuildId, Snowflake
from moothall.objects.permissions import PermissionSet

Localizations = dict[str, str]
"""Texts by locale code."""


class CommandType(IntEnum):
    """How a command is used."""

    CHAT_INPUT = 1
    USER = 2
    MESSAGE = 3
    PRIMARY_ENTRY_POINT = 4


class OptionType(IntEnum):
    """What an option takes."""

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
    """Who handles an entry point command."""

    APP_HANDLER = 1
    LAUNCH_ACTIVITY = 2


class InteractionContext(IntEnum):
    """Where an interaction happens."""

    GUILD = 0
    BOT_DM = 1
    PRIVATE_CHANNEL = 2


class CommandPermissionType(IntEnum):
    """Whom a permission of a command is about."""

    ROLE = 1
    USER = 2
    CHANNEL = 3


SUBCOMMANDS: Final = frozenset({OptionType.SUB_COMMAND, OptionType.SUB_COMMAND_GROUP})
CHOOSING: Final = frozenset({OptionType.STRING, OptionType.INTEGER, OptionType.NUMBER})
"""Options that may have choices, or complete what is typed."""


class Choice(Struct, frozen=True, kw_only=True):
    """One of the values that an option takes."""

    name: str
    name_localized: str | UnsetType = UNSET
    name_localizations: Localizations | UnsetType | None = UNSET
    value: str | int | float


class Option(Struct, frozen=True, kw_only=True):
    """A parameter of a command, a subcommand or a group of them."""

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
    """A command of an application; global ones have no `guild_id`, and only those have contexts.

    Localizations are there when they were asked for; else `..._localized` tells the caller's locale.
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
    """Whether a role, user or channel may use a command; the guild's id is everyone, one less every channel."""

    id: Snowflake
    type: CommandPermissionType
    permission: bool


class CommandPermissions(Struct, frozen=True, kw_only=True):
    """What a guild says about a command; the application's id stands for all commands about which it says nothing."""

    id: Snowflake
    application_id: ApplicationId
    guild_id: GuildId
    permissions: list[CommandPermission]


_SCRIPTS: Final = (range(0x0900, 0x0980), range(0xA8E0, 0xA900), range(0x0E00, 0x0E80))
"""Devanagari and Thai, whose vowels are marks."""


def is_slash_name(name: str) -> bool:
    """Whether a slash command or an option may have a name: letters, numbers, `-`, `_` and `'`, all in lower case."""
    for character in name:
        if character in "-_'" or unicodedata.category(character)[0] in "LN":
            continue
        if not any(ord(character) in script for script in _SCRIPTS):
            return False
    return name == name.lower()
