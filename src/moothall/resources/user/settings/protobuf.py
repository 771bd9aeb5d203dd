"""The settings of a user as protocol buffers (resources: user settings proto).

A protobuf is stored by its top-level fields, the sections. Those that the JSON settings have too are in
`settings_messages.proto`; the fields of all others are kept as they came. The import takes tens of milliseconds, so
`load_protobuf` in `reading` does it on a thread.
"""

from collections.abc import Callable
from typing import Any, Final, cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import DecodeError, Message
from google.protobuf.unknown_fields import UnknownFieldSet

from moothall.objects import settings_messages_pb2 as messages
from moothall.objects.ids import Snowflake
from moothall.objects.json_object import JsonObject
from moothall.objects.user_settings import CustomStatus, UserSettings
from moothall.objects.wire import Timestamp, to_plain

VERSIONS: Final = 1
"""The section with versions, in protobufs of each type."""
_LENGTH_DELIMITED: Final = 2
SHARED_SECTIONS: Final[dict[int, Callable[[], Message]]] = {
    5: messages.VoiceAndVideo,
    6: messages.TextAndImages,
    8: messages.Privacy,
    10: messages.GameLibrary,
    11: messages.Status,
    12: messages.Localization,
    13: messages.Appearance,
    14: messages.GuildFolders,
}
"""The sections of PreloadedUserSettings that the JSON settings share, by field number."""
_SETTING_NAMES: Final = {"restricted_guild_ids": "restricted_guilds", "folders": "guild_folders"}
"""The names of settings in JSON, where they differ."""
_THEMES: Final = ("dark", "light", "darker", "midnight")
_DEFAULTS: Final[JsonObject] = to_plain(UserSettings())

Sections = dict[int, bytes]
"""The top-level fields of a protobuf, each an encoded message, by number."""


def read_sections(data: bytes) -> Sections:
    """Split a protobuf into its sections. Raises ValueError for data that is none."""
    unknown = _parse(Empty(), data)
    sections: Sections = {}
    for field in UnknownFieldSet(unknown):
        if field.wire_type != _LENGTH_DELIMITED:
            raise ValueError("a section is a message")
        sections[field.field_number] = sections.get(field.field_number, b"") + field.data
    return sections


def write_sections(sections: Sections) -> bytes:
    """Join sections to a protobuf."""
    return b"".join(
        _varint(number << 3 | _LENGTH_DELIMITED) + _varint(len(section)) + section
        for number, section in sorted(sections.items())
    )


def with_changes(stored: Sections, changes: Sections) -> Sections:
    """The sections with those of a request in place of the stored ones. The server's versions stay.

    Raises ValueError for versions that are no message.
    """
    merged = {**stored, **changes}
    if VERSIONS in changes:
        versions = cast("Any", _parse(messages.Versions(), stored.get(VERSIONS, b"")))
        versions.client_version = cast("Any", _parse(messages.Versions(), changes[VERSIONS])).client_version
        merged[VERSIONS] = versions.SerializeToString()
    return merged


def with_version(sections: Sections, data_version: int) -> Sections:
    """The sections with the version of the data."""
    versions = cast("Any", _parse(messages.Versions(), sections.get(VERSIONS, b"")))
    versions.data_version = data_version
    return {**sections, VERSIONS: versions.SerializeToString()}


def with_settings(sections: Sections, settings: UserSettings) -> Sections:
    """The sections of PreloadedUserSettings with the values of the JSON settings; fields that agree stay unchanged."""
    plain: JsonObject = to_plain(settings)
    merged = dict(sections)
    for number, new_message in SHARED_SECTIONS.items():
        message = _parse(new_message(), sections.get(number, b""))
        differs = False
        for field in message.DESCRIPTOR.fields:
            value = plain[_SETTING_NAMES.get(field.name, field.name)]
            if _value(message, field) != value:
                _set_value(message, field, value)
                differs = True
        if differs:
            merged[number] = message.SerializeToString()
    return merged


def settings_in(sections: Sections) -> JsonObject:
    """The JSON settings that sections of PreloadedUserSettings set, with the default of each field that is absent.

    The values are those that the user sent: the caller validates them. Raises ValueError for a section that is no
    message.
    """
    values: dict[str, object] = {}
    for number, new_message in SHARED_SECTIONS.items():
        if number in sections:
            message = _parse(new_message(), sections[number])
            for field in message.DESCRIPTOR.fields:
                try:
                    values[_SETTING_NAMES.get(field.name, field.name)] = _value(message, field)
                except OverflowError:
                    raise ValueError("a moment after the year 9999") from None
    return values


def _parse(message: Message, data: bytes) -> Message:
    try:
        message.ParseFromString(data)
    except DecodeError:
        raise ValueError("not a protobuf") from None
    return message


def _value(message: Message, field: FieldDescriptor) -> object:
    """The value of a field as JSON has it."""
    name, setting = field.name, _SETTING_NAMES.get(field.name, field.name)
    value = getattr(message, name)
    match name:
        case "theme":
            return _THEMES[value - 1] if 1 <= value <= len(_THEMES) else _DEFAULTS[setting]
        case "custom_status":
            return _custom_status(value) if message.HasField(name) else None
        case "folders":
            return [_folder(folder) for folder in value]
    if field.is_repeated:
        return [str(each) for each in value]
    if field.message_type is None:
        return value
    return value.value if message.HasField(name) else _DEFAULTS[setting]


def _set_value(message: Message, field: FieldDescriptor, value: Any) -> None:
    name = field.name
    match name:
        case "theme":
            message.theme = _THEMES.index(value) + 1
        case "custom_status":
            _set_custom_status(message, value)
        case "folders":
            del message.folders[:]
            for folder in value:
                _add_folder(message, folder)
        case _ if field.is_repeated:
            getattr(message, name)[:] = [int(each) for each in value]
        case _ if field.message_type is None:
            setattr(message, name, value)
        case _:
            getattr(message, name).value = value


def _custom_status(status: Message) -> object:
    """A custom status, None if it is empty; the name of a custom emoji is left out, as JSON has its id only."""
    if not (status.text or status.emoji_id or status.emoji_name or status.expires_at_ms):
        return None
    return to_plain(
        CustomStatus(
            text=status.text or None,
            emoji_id=Snowflake(status.emoji_id) if status.emoji_id else None,
            emoji_name=None if status.emoji_id else status.emoji_name or None,
            expires_at=Timestamp(status.expires_at_ms) if status.expires_at_ms else None,
        )
    )


def _set_custom_status(message: Message, value: Any) -> None:
    if value is None:
        message.ClearField("custom_status")
        return
    status, emoji_id = message.custom_status, int(value["emoji_id"] or 0)
    status.text = value["text"] or ""
    if not emoji_id or emoji_id != status.emoji_id:
        status.emoji_name = value["emoji_name"] or ""
    status.emoji_id = emoji_id
    status.expires_at_ms = 0 if value["expires_at"] is None else int(Timestamp.from_wire(value["expires_at"]))
    message.custom_status.SetInParent()


def _folder(folder: Message) -> JsonObject:
    return {
        "guild_ids": [str(each) for each in folder.guild_ids],
        **{name: getattr(folder, name).value if folder.HasField(name) else None for name in ("id", "name", "color")},
    }


def _add_folder(message: Message, folder: JsonObject) -> None:
    added = message.folders.add(guild_ids=[int(each) for each in folder["guild_ids"]])
    for name in ("id", "name", "color"):
        if folder[name] is not None:
            getattr(added, name).value = folder[name]


def _varint(number: int) -> bytes:
    """A number in the base-128 encoding of tags and lengths."""
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
