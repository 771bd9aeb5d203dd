"""Commands as answers carry them."""

from collections.abc import Mapping
from typing import Any

from moothall.objects.command import Command, CommandPermission, CommandPermissions, CommandType
from moothall.objects.ids import CommandId, Snowflake
from moothall.objects.wire import convert
from moothall.resources.interaction.command.locales import text_in
from moothall.resources.interaction.command.queries import EVERYWHERE, CommandRow, PermissionsRow

_TEXTS = ("name", "description")


def command_object(row: CommandRow, *, localizations: bool = True, locale: str | None = None) -> Command:
    """A command with all its localizations, or in one locale with the text of that (`name_localized`)."""
    plain: dict[str, Any] = {
        **row.definition,
        "id": row.id,
        "application_id": row.application_id,
        "version": row.version,
        "type": row.type,
        "name": row.name,
    }
    if row.guild_id != EVERYWHERE:
        plain["guild_id"] = row.guild_id
    if not localizations:
        plain = _localized(plain, locale)
    found: Command = convert(plain, Command)
    return found


def permissions_object(row: PermissionsRow) -> CommandPermissions:
    """What a guild says about a command."""
    return CommandPermissions(
        id=row.command_id,
        application_id=row.application_id,
        guild_id=row.guild_id,
        permissions=convert(row.permissions, list[CommandPermission]),
    )


def _localized(plain: Mapping[str, Any], locale: str | None) -> dict[str, Any]:
    """Each text in the locale asked for beside the usual one, instead of all of them."""
    done = {key: value for key, value in plain.items() if not key.endswith("_localizations")}
    for text in _TEXTS:
        texts = plain.get(f"{text}_localizations") or {}
        if locale is not None and (found := text_in(texts, locale)) is not None:
            done[f"{text}_localized"] = found
    for key in ("options", "choices"):
        if key in done:
            done[key] = [_localized(each, locale) for each in done[key]]
    return done


def default_entry_point(row_id: CommandId, version: Snowflake) -> dict[str, Any]:
    """The command `Launch`, which an application with Activities has unless it makes another."""
    return {
        "id": row_id,
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
