"""Check and build what is stored of a command, from the request and its application. Pure."""

from typing import Any, Final

from msgspec import UNSET

from moothall.objects.application import ApplicationFlags
from moothall.objects.command import CommandType, OptionType
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import GuildId
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import to_plain
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.interaction.command.fields import CommandFields
from moothall.resources.interaction.command.queries import GLOBAL_SCOPE

_FIELDS: Final = (
    "name_localizations",
    "description",
    "description_localizations",
    "options",
    "default_member_permissions",
    "nsfw",
    "handler",
)
_GLOBAL_FIELDS: Final = ("contexts", "integration_types")


def check_for_application(
    application: ApplicationRow, guild_id: GuildId, body: CommandFields, command_type: int, form_errors: FormErrors
) -> None:
    """Report an entry point that the application cannot have, and integration types that it does not support."""
    if command_type == CommandType.PRIMARY_ENTRY_POINT:
        if guild_id != GLOBAL_SCOPE:
            form_errors.add("type", FormCode.BASE_TYPE_CHOICES, "A guild command cannot be an entry point.")
        elif not application.flags & ApplicationFlags.EMBEDDED:
            form_errors.add(
                "type", FormCode.BASE_TYPE_CHOICES, "Only applications with Activities have an entry point."
            )
    supported = {int(key) for key in application.integration_types_config or {}}
    for index, each in enumerate(body.integration_types or ()):
        if int(each) not in supported:
            form_errors.add(["integration_types", index], *FieldError.choices(tuple(sorted(supported))))


def build_definition(
    application: ApplicationRow, guild_id: GuildId, body: CommandFields, before: JsonObject
) -> JsonObject:
    """The stored definition: the fields of the request, else those of `before`, else their defaults."""
    definition: JsonObject = {"description": "", "default_member_permissions": None, "nsfw": False} | before
    for field in _FIELDS:
        value = getattr(body, field)
        if value is not UNSET:
            plain = _without_nulls(to_plain(value))
            definition[field] = [_stored_option(option) for option in plain or ()] if field == "options" else plain
    if definition.get("description") is None:
        definition["description"] = ""
    if definition["nsfw"] is None:
        definition["nsfw"] = False
    for field in ("options", "handler"):
        if not definition.get(field):
            definition.pop(field, None)
    if body.default_permission is False:
        definition["default_member_permissions"] = "0"
    return definition if guild_id != GLOBAL_SCOPE else _with_global_fields(application, body, definition)


def _with_global_fields(application: ApplicationRow, body: CommandFields, definition: JsonObject) -> JsonObject:
    """The definition with the contexts and integration types, which only global commands have."""
    for field in _GLOBAL_FIELDS:
        value = getattr(body, field)
        if value is not UNSET:
            definition[field] = None if value is None else [int(each) for each in value]
    if body.dm_permission is not UNSET and body.contexts is UNSET:
        definition["contexts"] = [0] if body.dm_permission is False else None
    if definition.get("integration_types") is None:
        definition["integration_types"] = sorted(int(key) for key in application.integration_types_config or {"0": {}})
    definition.setdefault("contexts", None)
    definition["dm_permission"] = definition["contexts"] is None or 1 in definition["contexts"]
    return definition


def _stored_option(option: JsonObject) -> JsonObject:
    """An option without an empty list of choices, and with whole numbers where its values are integers."""
    stored = dict(option)
    if not stored.get("choices"):
        stored.pop("choices", None)
    if stored["type"] == OptionType.INTEGER:
        for field in ("min_value", "max_value"):
            if field in stored:
                stored[field] = int(stored[field])
        if "choices" in stored:
            stored["choices"] = [{**choice, "value": int(choice["value"])} for choice in stored["choices"]]
    if "options" in stored:
        stored["options"] = [_stored_option(inner) for inner in stored["options"]]
    return stored


def _without_nulls(value: object) -> Any:
    """A value without the null fields of objects inside it: null means absent there."""
    if isinstance(value, list):
        return [_without_nulls(each) for each in value]
    if isinstance(value, dict):
        return {key: _without_nulls(each) for key, each in value.items() if each is not None}
    return value
