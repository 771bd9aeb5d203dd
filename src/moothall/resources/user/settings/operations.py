"""Changing the settings of users."""

import base64
from collections.abc import Iterable
from typing import Any, Final

from msgspec import UNSET, Struct, structs

from moothall.api.context import Context
from moothall.api.hooks import Fires
from moothall.objects import limits
from moothall.objects.errors import FormErrors, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.locales import LOCALES
from moothall.objects.user_settings import (
    ChannelOverride,
    SettingsProtoType,
    UserGuildSettings,
    UserSettings,
    UserSettingsProto,
)
from moothall.objects.wire import convert, to_plain
from moothall.resources.user.events import UserUpdate
from moothall.resources.user.objects import current_user
from moothall.resources.user.queries import lock_user, select_user, update_user
from moothall.resources.user.settings import queries
from moothall.resources.user.settings.events import UserGuildSettingsUpdate, UserSettingsProtoUpdate, UserSettingsUpdate
from moothall.resources.user.settings.queries import DIRECT_MESSAGES, GuildSettingsRow, ProtoRow
from moothall.resources.user.settings.reading import encode_proto, load_protobuf, settings_of
from moothall.resources.user.settings.requests import (
    ModifyChannelOverride,
    ModifyUserGuildSettings,
    ModifyUserSettings,
    ModifyUserSettingsProto,
)

SETTINGS_EVENTS: Final[Fires] = (UserSettingsUpdate, UserSettingsProtoUpdate, UserUpdate)
"""For `fires` of rows that may change settings of a user."""


async def modify_settings(ctx: Context, body: ModifyUserSettings) -> UserSettings:
    """Change settings of the caller; those that stay the same are not announced. A new locale changes the user too.

    Raises Refusal: 50035 for an unknown locale, and a custom status with two emojis.
    """
    user_id = ctx.actor.user_id
    await lock_user(ctx.tx, user_id)
    before = await settings_of(ctx.tx, user_id, ctx.now)
    after = await _change_settings(ctx, before, body)
    if after != before:
        row = await queries.select_proto(ctx.tx, user_id, SettingsProtoType.PRELOADED)
        await _store_proto(ctx, user_id, SettingsProtoType.PRELOADED, row.proto, row.data_version + 1, after)
    return after


async def modify_settings_proto(
    ctx: Context, proto_type: SettingsProtoType, body: ModifyUserSettingsProto
) -> UserSettingsProto:
    """Replace sections of a protocol buffer of the caller, and the JSON settings that they share.

    A change that requires an earlier version than the current one is discarded. Raises Refusal: 50035 for a text that
    is no protocol buffer, and for values that the JSON settings would not take.
    """
    user_id = ctx.actor.user_id
    protobuf = await load_protobuf()
    await lock_user(ctx.tx, user_id)
    row = await queries.select_proto(ctx.tx, user_id, proto_type)
    settings = await settings_of(ctx.tx, user_id, ctx.now) if proto_type is SettingsProtoType.PRELOADED else None
    if isinstance(body.required_data_version, int) and body.required_data_version < row.data_version:
        return UserSettingsProto(settings=await encode_proto(row, settings), out_of_date=True)
    try:
        changes = protobuf.read_sections(base64.b64decode(body.settings, validate=True))
        sections = protobuf.with_changes(protobuf.read_sections(row.proto), changes)
        request = convert({} if settings is None else protobuf.settings_in(changes), ModifyUserSettings)
    except ValueError:
        refuse_field("settings", FormCode.BASE_TYPE_BAD_TYPE, "Not the settings of a user.")
    proto = protobuf.write_sections(sections)
    if len(proto) > limits.SETTINGS_PROTO_MAX:
        refuse_field("settings", *FieldError.length(None, limits.SETTINGS_PROTO_MAX))
    if settings is not None:
        settings = await _change_settings(ctx, settings, request)
    encoded = await _store_proto(ctx, user_id, proto_type, proto, row.data_version + 1, settings)
    return UserSettingsProto(settings=encoded)


async def restrict_new_guild(ctx: Context, user_id: UserId, guild_id: GuildId) -> None:
    """Add a guild that a user joins to their restricted guilds, if they have `default_guilds_restricted`.

    The row must declare `SETTINGS_EVENTS`.
    """
    stored = await queries.select_changed_settings(ctx.tx, user_id)
    restricted = stored.get("restricted_guilds", [])
    if not stored.get("default_guilds_restricted") or str(int(guild_id)) in restricted:
        return
    restricted = [*restricted, str(int(guild_id))][-limits.GUILDS_PER_PREMIUM_USER :]
    await queries.upsert_settings(ctx.tx, user_id, {**stored, "restricted_guilds": restricted})
    ctx.emit(UserSettingsUpdate(user_id=user_id, changed={"restricted_guilds": restricted}))
    row = await queries.select_proto(ctx.tx, user_id, SettingsProtoType.PRELOADED)
    after = await settings_of(ctx.tx, user_id, ctx.now)
    await _store_proto(ctx, user_id, SettingsProtoType.PRELOADED, row.proto, row.data_version + 1, after)


async def _change_settings(ctx: Context, before: UserSettings, body: ModifyUserSettings) -> UserSettings:
    """Validate, store and announce changes to the JSON settings of the caller, whose row is locked."""
    user_id, values = ctx.actor.user_id, _present(body)
    if body.locale is not UNSET and body.locale not in LOCALES:
        refuse_field("locale", *FieldError.choices(sorted(LOCALES)))
    status = body.custom_status
    if status is not UNSET and status is not None and status.emoji_id is not None and status.emoji_name is not None:
        refuse_field("custom_status.emoji_name", FormCode.BASE_TYPE_BAD_TYPE, "At most one emoji may be set.")
    changed = {name: value for name, value in values.items() if value != getattr(before, name)}
    if not changed:
        return before
    if "locale" in changed:
        await update_user(ctx.tx, user_id, locale=changed["locale"])
        row = await select_user(ctx.tx, user_id)
        if row is not None:
            ctx.emit(UserUpdate(user=current_user(row)))
    stored = await queries.select_changed_settings(ctx.tx, user_id)
    await queries.upsert_settings(ctx.tx, user_id, {**stored, **_plain(changed)})
    ctx.emit(UserSettingsUpdate(user_id=user_id, changed=changed))
    return structs.replace(before, **changed)


async def _store_proto(
    ctx: Context,
    user_id: UserId,
    proto_type: SettingsProtoType,
    proto: bytes,
    data_version: int,
    settings: UserSettings | None,
) -> str:
    """Store and announce a protocol buffer; it is returned in base64, with the JSON settings if it shares them."""
    row = ProtoRow(proto, data_version)
    await queries.upsert_proto(ctx.tx, user_id, proto_type, row)
    encoded = await encode_proto(row, settings)
    ctx.emit(UserSettingsProtoUpdate(user_id=user_id, type=proto_type, proto=encoded))
    return encoded


async def modify_guild_settings(
    ctx: Context, changes: dict[GuildId, ModifyUserGuildSettings], guild_of_channel: dict[int, int]
) -> list[UserGuildSettings]:
    """Change the caller's notification settings of guilds, or of direct messages (`DIRECT_MESSAGES`).

    `guild_of_channel` has the channels that overrides may name, each with the key of its settings. Raises Refusal:
    50035 for another channel, and for more than `CHANNEL_OVERRIDES_MAX` overrides.
    """
    user_id = ctx.actor.user_id
    await lock_user(ctx.tx, user_id)
    stored = {
        settings.guild_id or DIRECT_MESSAGES: settings
        for settings in await queries.select_guild_settings(ctx.tx, user_id, changes)
    }
    form_errors = FormErrors()
    modified: dict[GuildId, UserGuildSettings] = {}
    for guild_id, body in changes.items():
        shown_id = None if guild_id == DIRECT_MESSAGES else guild_id
        before = stored.get(guild_id) or UserGuildSettings(guild_id=shown_id)
        values = _present(body)
        allowed_ids = {channel_id for channel_id, key in guild_of_channel.items() if key == guild_id}
        values["channel_overrides"] = _merge_overrides(
            before.channel_overrides, body.channel_overrides or {}, allowed_ids, form_errors
        )
        modified[guild_id] = structs.replace(before, **values, version=int(ctx.now))
    form_errors.raise_if_any()
    await queries.upsert_guild_settings(
        ctx.tx, [GuildSettingsRow(user_id, key, _plain(_stored(value)), ctx.now) for key, value in modified.items()]
    )
    for settings in modified.values():
        ctx.emit(UserGuildSettingsUpdate(user_id=user_id, settings=settings))
    return list(modified.values())


def named_channels(bodies: Iterable[ModifyUserGuildSettings]) -> list[ChannelId]:
    """The ids that the overrides of requests name, without those that are no ids."""
    ids = [read_id(key) for body in bodies for key in body.channel_overrides or {}]
    return [ChannelId(channel_id) for channel_id in ids if channel_id is not None]


def read_id(text: str) -> Snowflake | None:
    """An id that is the key of an object; None for a text that is no id."""
    try:
        return Snowflake.from_wire(text)
    except ValueError:
        return None


def _merge_overrides(
    before: list[ChannelOverride],
    changes: dict[str, ModifyChannelOverride],
    allowed_ids: set[int],
    form_errors: FormErrors,
) -> list[ChannelOverride]:
    overrides = {str(int(override.channel_id)): override for override in before}
    for key, body in changes.items():
        named_id = read_id(key)
        if named_id not in allowed_ids or named_id is None:
            form_errors.add(("channel_overrides", key), FormCode.BASE_TYPE_CHOICES, "Unknown channel.")
            continue
        channel_id = ChannelId(named_id)
        override = overrides.get(str(int(channel_id))) or ChannelOverride(channel_id=channel_id)
        overrides[str(int(channel_id))] = structs.replace(override, **_present(body))
    if len(overrides) > limits.CHANNEL_OVERRIDES_MAX:
        form_errors.add("channel_overrides", *FieldError.length(None, limits.CHANNEL_OVERRIDES_MAX))
    return list(overrides.values())


def _present(body: Struct) -> JsonObject:
    """The fields of a request that are present."""
    return {name: value for name, value in structs.asdict(body).items() if value is not UNSET}


def _stored(settings: UserGuildSettings) -> JsonObject:
    return {name: value for name, value in structs.asdict(settings).items() if name not in {"guild_id", "version"}}


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """The values as JSON has them."""
    plain: dict[str, Any] = to_plain(values)
    return plain
