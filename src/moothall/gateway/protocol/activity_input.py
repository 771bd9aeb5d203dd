"""Activities as clients send them: what can be read of one is kept, the rest is left out."""

from collections import Counter
from collections.abc import Iterable
from typing import Final, get_args

import msgspec
from msgspec import UNSET, Struct, structs

from moothall.objects.clock import CLOCK
from moothall.objects.json_object import JsonObject
from moothall.objects.presence import Activity, ActivityType, activity_id
from moothall.objects.wire import convert

_MAX_TEXT: Final = 128
_MAX_URL: Final = 512
_MAX_BUTTONS: Final = 2
_BOT_FIELDS: Final = ("name", "type", "url", "state")


def clean_activity(value: object, *, bot: bool) -> Activity | None:
    """The activity that other users see; None for what is not an object with a name.

    Names, states and details are cut to 128 characters. A field that the API does not know, or with a value that it
    does not allow, is left out, an unknown type is PLAYING. A bot's activity has name, type, url and state only.
    """
    if not isinstance(value, dict) or not isinstance(name := value.get("name"), str) or not name:
        return None
    if bot:
        value = {field: value[field] for field in _BOT_FIELDS if field in value}
    fields = _readable_fields(value, Activity)
    if (url := fields.get("url")) and len(url) > _MAX_URL:
        del fields["url"]
    if fields.get("type") not in _TYPES:
        fields["type"] = ActivityType.PLAYING
    for field in ("name", "state", "details"):
        if text := fields.get(field):
            fields[field] = text[:_MAX_TEXT]
    labels = _button_labels(value.get("buttons"))
    values = {
        **fields,
        "id": activity_id(fields["name"], fields["type"], fields.get("application_id")),
        "created_at": fields.get("created_at") or CLOCK.now_ms(),
        "buttons": labels or UNSET,
    }
    return Activity(**values)


def with_distinct_ids(activities: Iterable[Activity]) -> tuple[Activity, ...]:
    """Activities of one client, those with the same id as an earlier one with an id of their own."""
    counts: Counter[str] = Counter()
    distinct = []
    for activity in activities:
        position = counts[activity.id]
        counts[activity.id] += 1
        if position:
            own_id = activity_id(activity.name, activity.type, activity.application_id or None, position)
            activity = structs.replace(activity, id=own_id)  # noqa: PLW2901 - the same activity
        distinct.append(activity)
    return tuple(distinct)


_TYPES: Final = frozenset(ActivityType)


def _button_labels(buttons: object) -> list[str]:
    """The labels of buttons, which clients send as texts or as objects."""
    items = buttons[:_MAX_BUTTONS] if isinstance(buttons, list) else []
    labels = [item.get("label") if isinstance(item, dict) else item for item in items]
    return [label for label in labels if isinstance(label, str)]


def _readable_fields(value: JsonObject, struct: type[Struct]) -> JsonObject:
    """The fields of a struct that an object has with an allowed value; of objects inside it, their readable fields."""
    fields: dict[str, object] = {}
    for field in msgspec.structs.fields(struct):
        if field.encode_name not in value:
            continue
        content = value[field.encode_name]
        inner = next(
            (kind for kind in get_args(field.type) if isinstance(kind, type) and issubclass(kind, Struct)), None
        )
        try:
            if inner is None or not isinstance(content, dict):
                fields[field.name] = convert(content, field.type)
            elif readable := _readable_fields(content, inner):
                fields[field.name] = inner(**readable)
        except (msgspec.ValidationError, TypeError):
            continue  # not allowed, or an object without a field that it must have
    return fields
