"""Build Application Command objects from rows."""

from collections.abc import Mapping
from typing import Any

from moothall.objects.command import Command, CommandPermission, CommandPermissions, CommandType
from moothall.objects.ids import CommandId, Snowflake
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import convert
from moothall.resources.interaction.command.locales import localized_text
from moothall.resources.interaction.command.queries import GLOBAL_SCOPE, CommandRow, PermissionsRow

_LOCALIZED_FIELDS = ("name", "description")


def command_object(row: CommandRow, *, localizations: bool = True, locale: str | None = None) -> Command:
    """A command with all localizations, or without them and with the text of one locale (`name_localized`)."""
    plain: dict[str, object] = {
        **row.definition,
        "id": row.id,
        "application_id": row.application_id,
        "version": row.version,
        "type": row.type,
        "name": row.name,
    }
    if row.guild_id != GLOBAL_SCOPE:
        plain["guild_id"] = row.guild_id
    if not localizations:
        plain = _localized(plain, locale)
    command: Command = convert(plain, Command)
    return command


def permissions_object(row: PermissionsRow) -> CommandPermissions:
    """A guild's permissions for a command."""
    return CommandPermissions(
        id=row.command_id,
        application_id=row.application_id,
        guild_id=row.guild_id,
        permissions=convert(row.permissions, list[CommandPermission]),
    )


def _localized(plain: Mapping[str, Any], locale: str | None) -> JsonObject:
    """The fields with the text of one locale instead of all localizations, also of options and choices."""
    fields = {key: value for key, value in plain.items() if not key.endswith("_localizations")}
    for text in _LOCALIZED_FIELDS:
        texts = plain.get(f"{text}_localizations") or {}
        if locale is not None and (localized := localized_text(texts, locale)) is not None:
            fields[f"{text}_localized"] = localized
    for key in ("options", "choices"):
        if key in fields:
            fields[key] = [_localized(each, locale) for each in fields[key]]
    return fields


def default_entry_point(command_id: CommandId, version: Snowflake) -> JsonObject:
    """The columns of the command `Launch`, the default entry point of an application with Activities."""
    return {
        "id": command_id,
        "version": version,
        "type": int(CommandType.PRIMARY_ENTRY_POINT),
        "name": "Launch",
        "definition": {
            "description": "",
            "handler": 2,
            "contexts": [0, 1, 2],
            "integration_types": [0, 1],
            "dm_permission": True,
            "nsfw": False,
        },
    }
