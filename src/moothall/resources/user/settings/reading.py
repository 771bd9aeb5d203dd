"""The settings of a user, with defaults for those that they have not changed."""

import base64
import importlib
from functools import partial
from types import ModuleType
from typing import Final

from msgspec import structs

from moothall.objects.ids import UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.user_settings import SettingsProtoType, UserSettings
from moothall.objects.wire import Timestamp, convert
from moothall.resources.user.queries import select_user
from moothall.resources.user.settings.queries import ProtoRow, select_changed_settings, select_proto
from moothall.runtime.lifecycle import Lazy
from moothall.storage.database import Reader

_PROTOBUF: Final = Lazy(partial(importlib.import_module, "moothall.resources.user.settings.protobuf"))


async def settings_of(reader: Reader, user_id: UserId, now: Timestamp) -> UserSettings:
    """The settings of a user. A custom status that has expired is none."""
    changed = await select_changed_settings(reader, user_id)
    row = await select_user(reader, user_id)
    return settings_from(changed, "en-US" if row is None else row.locale, now)


def settings_from(changed: JsonObject, locale: str, now: Timestamp) -> UserSettings:
    """The settings of a user who has changed some of them."""
    settings: UserSettings = convert({**changed, "locale": locale}, UserSettings)
    status = settings.custom_status
    if status is not None and status.expires_at is not None and status.expires_at <= now:
        return structs.replace(settings, custom_status=None)
    return settings


async def load_protobuf() -> ModuleType:
    """The module `protobuf` of this room, imported on a thread when it is first needed."""
    return await _PROTOBUF.get()


async def settings_proto_of(reader: Reader, user_id: UserId, proto_type: SettingsProtoType, now: Timestamp) -> str:
    """A protocol buffer of a user in base64."""
    row = await select_proto(reader, user_id, proto_type)
    settings = await settings_of(reader, user_id, now) if proto_type is SettingsProtoType.PRELOADED else None
    return await encode_proto(row, settings)


async def encode_proto(row: ProtoRow, settings: UserSettings | None) -> str:
    """A stored protocol buffer in base64, with the JSON settings if it shares them."""
    protobuf = await load_protobuf()
    sections = protobuf.read_sections(row.proto)
    if settings is not None:
        sections = protobuf.with_settings(sections, settings)
    encoded: bytes = protobuf.write_sections(protobuf.with_version(sections, row.data_version))
    return base64.b64encode(encoded).decode()
